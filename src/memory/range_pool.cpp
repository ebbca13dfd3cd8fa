#include "memory/range_pool.h"

#include <array>
#include <atomic>

namespace belay {
namespace {
std::atomic<std::uint32_t> g_epoch{1};
}  // namespace

// A few ranges of each size that this thread gave back last, newest first.
class ThreadRanges {
 public:
  ~ThreadRanges() {
    if (epoch_ != g_epoch.load(std::memory_order_relaxed)) return;
    for (Shelf& shelf : shelves_) clear(shelf);
  }

  std::uintptr_t take(const RangePool* pool, std::size_t bytes) {
    check_epoch();
    Shelf& shelf = shelf_for(pool, bytes);
    if (shelf.pool != pool || shelf.bytes != bytes || shelf.count == 0) return 0;
    return shelf.starts[--shelf.count];
  }

  void give(RangePool* pool, std::uintptr_t start, std::size_t bytes) {
    check_epoch();
    Shelf& shelf = shelf_for(pool, bytes);
    if (shelf.pool != pool || shelf.bytes != bytes) {
      clear(shelf);
      shelf.pool = pool;
      shelf.bytes = bytes;
    }
    // Few of the large ones: all threads together must not hold the whole address window.
    const std::size_t most = bytes <= 64_MiB ? shelf.starts.size() : 1;
    if (shelf.count >= most) {
      pool->give_shared(start, bytes);
      return;
    }
    shelf.starts[shelf.count++] = start;
  }

 private:
  struct Shelf {
    RangePool* pool = nullptr;
    std::size_t bytes = 0;
    std::size_t count = 0;
    std::array<std::uintptr_t, 13> starts{};
  };

  static void clear(Shelf& shelf) {
    while (shelf.count > 0) shelf.pool->give_shared(shelf.starts[--shelf.count], shelf.bytes);
  }

  Shelf& shelf_for(const RangePool* pool, std::size_t bytes) {
    const std::uint64_t mixed =
        (reinterpret_cast<std::uintptr_t>(pool) >> 6 ^ bytes >> 12) * 0x9E3779B97F4A7C15U;
    return shelves_[mixed >> 58];
  }

  void check_epoch() {
    const std::uint32_t now = g_epoch.load(std::memory_order_relaxed);
    if (epoch_ == now) return;
    shelves_ = {};
    epoch_ = now;
  }

  std::uint32_t epoch_ = 0;
  std::array<Shelf, 64> shelves_{};
};

namespace {
ThreadRanges& thread_ranges() {
  thread_local ThreadRanges ranges;
  return ranges;
}
}  // namespace

void RangePool::forget_thread_ranges() { g_epoch.fetch_add(1); }

void RangePool::open(HeapMap& map, HeapClass heap_class, std::uint32_t device) {
  map_ = &map;
  class_ = heap_class;
  device_ = device;
}

std::uintptr_t RangePool::take(std::size_t bytes) {
  if (const std::uintptr_t kept = thread_ranges().take(this, bytes); kept != 0) return kept;
  return take_shared(bytes);
}

void RangePool::give(std::uintptr_t start, std::size_t bytes) { thread_ranges().give(this, start, bytes); }

std::uintptr_t RangePool::take_shared(std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  if (const std::optional<std::uintptr_t> start = runs_.take(bytes)) return *start;
  const std::uintptr_t heap = map_->open_carved(class_, device_);
  if (heap == 0) return 0;
  if (bytes < kHeapBytes) runs_.give(heap + bytes, kHeapBytes - bytes);
  return heap;
}

void RangePool::give_shared(std::uintptr_t start, std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  runs_.give(start, bytes);
}

}  // namespace belay
