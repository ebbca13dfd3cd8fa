#include "memory/range_pool.h"

#include <optional>

namespace belay {

void RangePool::open(HeapMap& map, HeapClass heap_class, std::uint32_t device) {
  map_ = &map;
  class_ = heap_class;
  device_ = device;
}

std::size_t RangePool::take(std::size_t bytes, std::span<std::uintptr_t> ranges) {
  std::size_t count = 0;
  {
    const std::lock_guard lock{mutex_};
    const std::size_t all = bytes * ranges.size();
    std::optional<std::uintptr_t> run = runs_.take(all);
    // Holes first: otherwise blocks that come and go would creep through the address window.
    while (!run && count < ranges.size()) {
      const std::optional<std::uintptr_t> hole = runs_.take(bytes);
      if (!hole) break;
      ranges[count++] = *hole;
    }
    if (!run && count == 0) {
      const std::uintptr_t heap = map_->open_carved(class_, device_);
      if (heap == 0) return 0;
      run = heap;
      if (all < kHeapBytes) runs_.give(heap + all, kHeapBytes - all);
    }
    for (; run && count < ranges.size(); ++count) ranges[count] = *run + count * bytes;
  }
  for (const std::uintptr_t start : ranges.first(count)) map_->cut(start, bytes);
  return count;
}

void RangePool::give(std::uintptr_t start, std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  runs_.give(start, bytes);
}

}  // namespace belay
