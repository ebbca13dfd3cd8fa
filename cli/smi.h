// `belay smi`: who holds how much of which device, in the manner of `npu-smi info`.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_smi(CLI::App& belay);

}  // namespace belay::cli
