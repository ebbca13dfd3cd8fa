// `belay diff`: what differs between two traces.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_diff(CLI::App& belay);

}  // namespace belay::cli
