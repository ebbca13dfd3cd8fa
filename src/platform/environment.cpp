#include "platform/environment.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace belay::platform {

std::optional<std::string> environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return std::string{value};
}

std::vector<std::string> environment_names(std::string_view prefix) {
  std::vector<std::string> names;
  for (char** each = ::environ; each != nullptr && *each != nullptr; ++each) {
    const std::string_view entry{*each};
    if (entry.starts_with(prefix)) names.emplace_back(entry.substr(0, entry.find('=')));
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace belay::platform
