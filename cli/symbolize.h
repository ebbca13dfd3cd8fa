// `belay symbolize`: a filter that turns addresses of code into functions, files and lines.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_symbolize(CLI::App& belay);

}  // namespace belay::cli
