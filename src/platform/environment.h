// Settings from outside the process.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belay::platform {

// Empty when the variable is not set; an empty string when it is set to nothing.
std::optional<std::string> environment(const char* name);
// Names of all variables that begin so, sorted.
std::vector<std::string> environment_names(std::string_view prefix);

}  // namespace belay::platform
