// `belay symbolize`: a filter that turns addresses of code into functions, files and lines.
#pragma once

#include <string>
#include <string_view>

#include "cli/command.h"

namespace CLI {
class App;
}

namespace belay::cli {

class Symbols;

// The text with all frames in words.
std::string symbolized(std::string_view text, Symbols& symbols);

Action add_symbolize(CLI::App& belay);

}  // namespace belay::cli
