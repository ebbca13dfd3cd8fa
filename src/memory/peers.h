// Which device may reach the memory of which other: one direction, for the whole process.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "machine/state.h"

namespace belay {

inline constexpr std::uint32_t kMostDevices = machine::kMostDevices;

class Peers {
 public:
  void enable(std::uint32_t from, std::uint32_t to) { reach_[from].fetch_or(bit(to)); }
  void disable(std::uint32_t from, std::uint32_t to) { reach_[from].fetch_and(~bit(to)); }
  bool enabled(std::uint32_t from, std::uint32_t to) const { return (reach_[from].load() & bit(to)) != 0; }

  // A device that is closed neither reaches nor is reached any more.
  void drop(std::uint32_t device) {
    reach_[device].store(0);
    for (std::atomic<std::uint64_t>& row : reach_) row.fetch_and(~bit(device));
  }

 private:
  static std::uint64_t bit(std::uint32_t device) { return std::uint64_t{1} << device; }
  std::array<std::atomic<std::uint64_t>, kMostDevices> reach_{};
};

}  // namespace belay
