// `belay check`: starts a program and looks for its mistakes.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

// `after_dashes`: what stood behind "--" on the command line, with the "--" itself in front if there was one.
Action add_check(CLI::App& belay, std::vector<std::string> after_dashes);

}  // namespace belay::cli
