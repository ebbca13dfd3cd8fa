// The time since some moment, for ages: a few nanoseconds to ask, and right to some milliseconds.
#pragma once

#include <ctime>

#include <cstdint>

namespace belay::platform {

inline std::uint64_t rough_time_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // counts from the same moment as std::chrono::steady_clock
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace belay::platform
