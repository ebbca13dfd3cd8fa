#include "memory/host_room.h"

#include <algorithm>

#include "platform/kernel_pages.h"

namespace belay {
namespace {
// Left alone, or a twentieth of everything if that is more: what the program itself and its neighbours need
// next.
constexpr std::size_t kLeftAlone = 32_MiB;
constexpr std::size_t kMostPerLook = 1_GiB;
}  // namespace

bool HostRoom::take(std::size_t bytes) {
  if (limit_ && bytes > *limit_ - std::min(taken_, *limit_)) return false;
  if (bytes > seen_) {
    const platform::MemoryLeft there = platform::memory_left();
    const std::size_t room =
        there.available - std::min(there.available, std::max(kLeftAlone, there.total / 20));
    if (bytes > room) return false;
    seen_ = std::max(bytes, std::min(room / 8, kMostPerLook));
  }
  seen_ -= bytes;
  taken_ += bytes;
  return true;
}

}  // namespace belay
