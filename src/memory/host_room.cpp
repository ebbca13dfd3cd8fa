#include "memory/host_room.h"

#include <algorithm>

#include "platform/kernel_pages.h"

namespace belay {
namespace {
// Left alone: page tables, this process's other needs, and neighbours that looked at the same moment.
constexpr std::size_t kLeftAlone = 64_MiB;
constexpr std::size_t kMostPerLook = 1_GiB;
}  // namespace

bool HostRoom::take(std::size_t bytes) {
  if (limit_ && bytes > *limit_ - std::min(taken_, *limit_)) return false;
  if (bytes > seen_) {
    const std::size_t there = platform::available_memory();
    const std::size_t room = there - std::min(there, std::max(kLeftAlone, there / 32));
    if (bytes > room) return false;
    seen_ = std::max(bytes, std::min(room / 8, kMostPerLook));
  }
  seen_ -= bytes;
  taken_ += bytes;
  return true;
}

}  // namespace belay
