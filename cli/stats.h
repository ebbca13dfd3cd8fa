// `belay stats`: what a trace adds up to.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_stats(CLI::App& belay);

}  // namespace belay::cli
