// `belay toolkit`: belay in the places where programs expect a CANN toolkit and a driver.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace belay::cli {

Action add_toolkit(CLI::App& belay);

}  // namespace belay::cli
