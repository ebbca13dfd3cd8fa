// `belay explain`: what a request for memory costs, and why.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_explain(CLI::App& belay);

}  // namespace belay::cli
