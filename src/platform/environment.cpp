#include "platform/environment.h"

#include <cstdlib>

namespace belay::platform {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string{value};
}

}  // namespace belay::platform
