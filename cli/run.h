// `belay run`: starts a program on the emulated machine.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

// `after_dashes`: what stood behind "--" on the command line, with the "--" itself in front if there was one.
Action add_run(CLI::App& belay, std::vector<std::string> after_dashes);

}  // namespace belay::cli
