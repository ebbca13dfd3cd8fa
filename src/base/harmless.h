// Names that come from elsewhere, fit for a terminal.
#pragma once

#include <algorithm>
#include <string>

namespace belay {

// Names of programs may hold anything; a terminal must not obey them.
inline std::string harmless(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 || c >= 0x7F; }, '?');
  return text;
}

}  // namespace belay
