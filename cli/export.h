// `belay export`: a trace for other viewers.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_export(CLI::App& belay);

}  // namespace belay::cli
