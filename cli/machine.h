// `belay machine`: which machines there are, and clearing away what they left behind.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_machine(CLI::App& belay);

}  // namespace belay::cli
