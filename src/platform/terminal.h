// Who reads what is printed: a person at a terminal, or a file.
#pragma once

#include <cstdio>

namespace belay::platform {

// A terminal gets colours, unless NO_COLOR is set and not empty (https://no-color.org), or TERM is "dumb".
bool is_coloured(std::FILE* stream);

}  // namespace belay::platform
