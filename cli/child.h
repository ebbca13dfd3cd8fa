// A program that runs as a child of this one, as if it had been started alone.
//
// Signals that are sent to this process are passed on; those that a terminal sends reach the child by
// themselves, since it is in the same group. When this process is killed, so is the child.
#pragma once

#include <string>
#include <vector>

namespace belay::cli {

struct Ending {
  int not_started = 0;  // not 0: errno of exec
  int status = 0;       // as waitpid tells it
};
Ending run_child(const std::string& path, std::vector<std::string> words);

// Ends as the child did: with its exit code, or by the same signal.
int end_like(const Ending& ending);

}  // namespace belay::cli
