#include "memory/range_pool.h"

#include <new>
#include <optional>

namespace belay {

void RangePool::open(HeapMap& map, HeapClass heap_class, std::uint32_t device) {
  map_ = &map;
  class_ = heap_class;
  device_ = device;
}

std::size_t RangePool::take(std::size_t bytes, std::span<std::uintptr_t> ranges) {
  if (const std::size_t count = try_take(bytes, ranges); count != 0) return count;
  {
    const std::lock_guard lock{mutex_};
    if (quarantine_.empty()) return 0;
    quarantine_.give_all([this](std::uintptr_t start, std::size_t size) { reuse(size, {&start, 1}); });
  }
  return try_take(bytes, ranges);
}

std::size_t RangePool::try_take(std::size_t bytes, std::span<std::uintptr_t> ranges) {
  if (stands_alone(bytes)) {
    ranges[0] = map_->open_whole(bytes, device_, class_);
    return ranges[0] == 0 ? 0 : 1;
  }
  std::size_t count = 0;
  {
    const std::lock_guard lock{mutex_};
    // Those are still cut for blocks of this size.
    if (count = shelves_.take(bytes, ranges); count != 0) return count;
    const std::size_t all = bytes * ranges.size();
    std::optional<std::uintptr_t> run;
    // Holes first: otherwise blocks that come and go would creep through the address window.
    const auto take_free = [&] {
      run = runs_.take(all);
      while (!run && count < ranges.size()) {
        const std::optional<std::uintptr_t> hole = runs_.take(bytes);
        if (!hole) break;
        ranges[count++] = *hole;
      }
      return run || count != 0;
    };
    if (!take_free() && join()) take_free();
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

bool RangePool::take_at(std::uintptr_t start, std::size_t bytes) {
  if (stands_alone(bytes)) return map_->open_whole(bytes, device_, class_, start) != 0;
  if (start % unit_of(class_) != 0 ||
      round_down(start, kHeapBytes) != round_down(start + bytes - 1, kHeapBytes))
    return false;
  {
    const std::lock_guard lock{mutex_};
    join();
    if (!runs_.take_at(start, bytes)) {
      const std::uintptr_t heap = map_->open_carved(class_, device_, round_down(start, kHeapBytes));
      if (heap == 0) return false;
      runs_.give(heap, kHeapBytes);
      runs_.take_at(start, bytes);
    }
  }
  map_->cut(start, bytes);
  return true;
}

void RangePool::reuse(std::size_t bytes, std::span<const std::uintptr_t> starts) {
  if (stands_alone(bytes)) {
    for (const std::uintptr_t start : starts) map_->close_whole(start, bytes);
  } else if (!shelves_.put(bytes, starts)) {
    for (const std::uintptr_t start : starts) runs_.give(start, bytes);
  }
}

void RangePool::give(std::size_t bytes, std::span<const std::uintptr_t> starts) {
  const std::lock_guard lock{mutex_};
  if (!quarantine_.keeps()) return reuse(bytes, starts);
  for (const std::uintptr_t start : starts)
    quarantine_.put(start, bytes, [this](std::uintptr_t at, std::size_t size) { reuse(size, {&at, 1}); });
}

void RangePool::set_quarantine(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  quarantine_.set_most(bytes, [this](std::uintptr_t start, std::size_t size) { reuse(size, {&start, 1}); });
}

bool RangePool::join() {
  if (shelves_.empty()) return false;
  shelves_.clear(kHeapBytes, [this](std::uintptr_t start, std::size_t bytes) { runs_.give(start, bytes); });
  return true;
}

}  // namespace belay
