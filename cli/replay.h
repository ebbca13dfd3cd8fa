// `belay replay`: would it fit on another product, with another policy, in less memory?
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_replay(CLI::App& belay);

}  // namespace belay::cli
