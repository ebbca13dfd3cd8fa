// belay report: a trace as one page that shows where memory went, when, and why it ran out.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"

namespace belay::cli {

Action add_report(CLI::App& belay);

}  // namespace belay::cli
