#include "memory/range_pool.h"

#include <optional>

namespace belay {

void RangePool::open(HeapMap& map, HeapClass heap_class, std::uint32_t device) {
  map_ = &map;
  class_ = heap_class;
  device_ = device;
}

std::uintptr_t RangePool::take(std::size_t bytes, std::size_t count) {
  std::uintptr_t start = 0;
  {
    const std::lock_guard lock{mutex_};
    const std::size_t all = bytes * count;
    if (const std::optional<std::uintptr_t> run = runs_.take(all)) {
      start = *run;
    } else {
      start = map_->open_carved(class_, device_);
      if (start == 0) return 0;
      if (all < kHeapBytes) runs_.give(start + all, kHeapBytes - all);
    }
  }
  for (std::size_t i = 0; i < count; ++i) map_->cut(start + i * bytes, bytes);
  return start;
}

void RangePool::give(std::uintptr_t start, std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  runs_.give(start, bytes);
}

}  // namespace belay
