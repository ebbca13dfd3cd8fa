// `belay doctor`: what this machine can do, what belay will use, and what would make it better.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_doctor(CLI::App& belay);

}  // namespace belay::cli
