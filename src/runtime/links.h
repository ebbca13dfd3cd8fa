// How long copies take (BELAY_LINK), where they are not simply as fast as they go.
//
// Each device has one link in each direction. A copy takes it for bytes / bandwidth; a second one in the same
// direction waits for its turn, others overlap.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "memory/location.h"
#include "schedule/scheduler.h"

namespace belay {

inline constexpr std::size_t kWays = 4;  // with a bandwidth of their own: all but OnHost, the last

struct LinkSettings {
  std::array<double, kWays> bytes_per_second{};  // 0: no limit
  bool limited() const {
    for (const double each : bytes_per_second) {
      if (each > 0) return true;
    }
    return false;
  }
};

class LinkTimes {
 public:
  LinkTimes(const LinkSettings& settings, std::uint32_t devices)
      : settings_{settings}, limited_{settings.limited()}, free_at_(devices) {}

  bool limited() const { return limited_; }
  // Takes the link; the moment at which the copy is over, or nothing where there is no limit.
  std::optional<schedule::Time> take(const Location& to, const Location& from, std::size_t bytes) {
    return take(way_between(to, from), to.is_device() ? to.device() : from.device(), bytes);
  }
  std::optional<schedule::Time> take(Way way, std::uint32_t device, std::size_t bytes) {
    if (!limited_ || way == Way::OnHost) return std::nullopt;
    const double speed = settings_.bytes_per_second[static_cast<std::size_t>(way)];
    if (speed <= 0) return std::nullopt;
    constexpr double kLongest = 1e6;  // seconds; more would not fit the clock
    const std::chrono::duration<double> length{std::min(static_cast<double>(bytes) / speed, kLongest)};
    const std::lock_guard lock{mutex_};
    schedule::Time& free_at = free_at_[device][static_cast<std::size_t>(way)];
    free_at = std::max(free_at, schedule::Clock::now()) +
              std::chrono::duration_cast<schedule::Clock::duration>(length);
    return free_at;
  }

 private:
  const LinkSettings settings_;
  const bool limited_;
  std::mutex mutex_;
  std::vector<std::array<schedule::Time, kWays>> free_at_;
};

}  // namespace belay
