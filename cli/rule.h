// `belay rule`: the text of rules by their ids.
#pragma once

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

Action add_rule(CLI::App& belay);

}  // namespace belay::cli
