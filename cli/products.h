// `belay products`: what can be emulated, with which figures, and where these come from.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_products(CLI::App& belay);

}  // namespace belay::cli
