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
    t_gone = true;
    if (epoch_ != g_epoch.load(std::memory_order_relaxed)) return;
    for (Shelf& shelf : shelves_) clear(shelf);
  }

  std::uintptr_t take(const RangePool* pool, std::size_t bytes) {
    check_epoch();
    Shelf* shelf = find(pool, bytes);
    return shelf == nullptr || shelf->count == 0 ? 0 : shelf->starts[--shelf->count];
  }

  void give(RangePool* pool, std::uintptr_t start, std::size_t bytes) {
    check_epoch();
    Shelf* shelf = find(pool, bytes);
    if (shelf == nullptr) {
      shelf = &shelf_at(pool, bytes);
      if (Shelf& next = neighbour(*shelf); shelf->count != 0 && next.count == 0) shelf = &next;
      clear(*shelf);
      shelf->pool = pool;
      shelf->bytes = bytes;
    }
    // Few of the large ones: all threads together must not hold the whole address window.
    const std::size_t most = bytes <= 64_MiB ? shelf->starts.size() : 1;
    if (shelf->count >= most) {
      pool->give_shared(start, bytes);
      return;
    }
    shelf->starts[shelf->count++] = start;
  }

  // Set when this thread's objects are gone and it still calls (from static destructors): nothing is kept
  // then.
  static constinit thread_local bool t_gone;

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

  // A size has two shelves to choose from, so that two sizes used in turn do not push each other out.
  Shelf& shelf_at(const RangePool* pool, std::size_t bytes) {
    const std::uint64_t mixed =
        (reinterpret_cast<std::uintptr_t>(pool) >> 6 ^ bytes >> 12) * 0x9E3779B97F4A7C15U;
    return shelves_[mixed >> 58];
  }
  Shelf& neighbour(const Shelf& shelf) {
    return shelves_[static_cast<std::size_t>(&shelf - shelves_.data()) ^ 1U];
  }
  Shelf* find(const RangePool* pool, std::size_t bytes) {
    Shelf& first = shelf_at(pool, bytes);
    if (first.pool == pool && first.bytes == bytes) return &first;
    Shelf& second = neighbour(first);
    return second.pool == pool && second.bytes == bytes ? &second : nullptr;
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

constinit thread_local bool ThreadRanges::t_gone = false;

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
  if (!ThreadRanges::t_gone) {
    if (const std::uintptr_t kept = thread_ranges().take(this, bytes); kept != 0) return kept;
  }
  return take_shared(bytes);
}

void RangePool::give(std::uintptr_t start, std::size_t bytes) {
  ThreadRanges::t_gone ? give_shared(start, bytes) : thread_ranges().give(this, start, bytes);
}

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
