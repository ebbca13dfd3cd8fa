// Settings from outside the process.
#pragma once

#include <optional>
#include <string>

namespace belay::platform {

// Empty when the variable is not set; an empty string when it is set to nothing.
std::optional<std::string> environment(const char* name);

}  // namespace belay::platform
