// `belay check-program`: does belay have what a program needs?
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace belay::cli {

Action add_check_program(CLI::App& belay);

}  // namespace belay::cli
