// `belay mark`: sets a mark in a program that runs under `belay check`.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_mark(CLI::App& belay);

}  // namespace belay::cli
