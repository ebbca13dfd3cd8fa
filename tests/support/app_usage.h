// What aclrtGetMemUsageInfo says about one module.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "acl/acl.h"

namespace belay_test {

struct Usage {
  std::uint64_t current = 0, peak = 0;
  bool operator==(const Usage&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Usage& usage) {
  return out << "{current " << usage.current << ", peak " << usage.peak << "}";
}

// A module that never held anything is not listed (M-150).
inline Usage usage_of(const std::string& module, std::int32_t device = 0) {
  std::array<aclrtMemUsageInfo, 64> entries{};
  std::size_t count = 0;
  EXPECT_EQ(aclrtGetMemUsageInfo(device, entries.data(), entries.size(), &count), ACL_SUCCESS);
  for (std::size_t i = 0; i < count; ++i) {
    if (module == entries[i].name) return {entries[i].curMemSize, entries[i].memPeakSize};
  }
  return {};
}

inline Usage app_usage(std::int32_t device = 0) { return usage_of("APP", device); }

}  // namespace belay_test
