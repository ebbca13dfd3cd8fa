#include "memory/thread_cache.h"

#include <algorithm>
#include <new>

#include "memory/memory.h"
#include "platform/sparse_memory.h"

namespace belay {
namespace {
// How many ranges of a size a shelf holds.
std::size_t depth_for(std::size_t footprint, std::size_t most) {
  if (footprint <= 64_KiB) return most;
  if (footprint <= 1_MiB) return most / 4;
  return footprint <= 64_MiB ? most / 16 : 1;
}

// Set when this thread's objects are gone and it still calls (from static destructors): nothing is kept then.
constinit thread_local bool t_gone = false;
}  // namespace

// Gives everything back when the thread ends.
struct CacheKeeper {
  static ThreadCache none;
  // Half a megabyte, of which little is touched.
  static ThreadCache* make() {
    platform::SparseMemory memory{sizeof(ThreadCache)};
    if (!memory) return nullptr;
    return new (memory.release()) ThreadCache;
  }
  ~CacheKeeper() {
    t_gone = true;
    ThreadCache* cache = t_cache;
    t_cache = &none;
    if (cache == &none) return;
    cache->leave();
    const platform::SparseMemory memory{reinterpret_cast<std::byte*>(cache), sizeof(ThreadCache)};
  }
};
ThreadCache CacheKeeper::none;
constinit thread_local ThreadCache* t_cache = &CacheKeeper::none;

ThreadCache* ThreadCache::ready_for(Memory& memory) {
  if (t_cache == &CacheKeeper::none) {
    if (t_gone) return nullptr;
    thread_local CacheKeeper keeper;
    (void)keeper;
    ThreadCache* made = CacheKeeper::make();
    if (made == nullptr) return nullptr;
    t_cache = made;
  }
  // The era is read before it is asked whose it is: the answer holds for that era or an older one.
  const std::uint64_t era = WarmState::era_alone(WarmState::now());
  if (t_cache->memory_number_ != memory.number()) t_cache->settle(memory);
  // The warm path gives to a shard as only its owner may.
  t_cache->era_ = t_cache->owns_shard() && WarmState::is_current(memory.number()) ? era : WarmState::kNever;
  return t_cache;
}

void ThreadCache::forget_context() {
  if (t_cache != &CacheKeeper::none) t_cache->context_era_ = WarmState::kNever;
}

void ThreadCache::renew(std::uint64_t era, std::uint32_t device) {
  if (era != era_) return;  // of another memory, by now
  if (device != device_) {
    device_ = device;
    routes_ = {};
    for (Shelf& shelf : shelves_) {
      if (shelf.key != 0) routes_[route_to(shelf)] = &shelf;
    }
    routes_[Routes::kNone] = nullptr;
  }
  context_era_ = era;
}

std::size_t ThreadCache::route_to(const Shelf& shelf) const {
  const BlockWord block = ShelfKey::block(shelf.key);
  return ShelfKey::device(shelf.key) == device_ ? Routes::of(block.page, block.units * 4_KiB, block.p2p)
                                                : Routes::kNone;
}

void ThreadCache::settle(Memory& memory) {
  leave();
  shelves_ = {};
  routes_ = {};
  context_era_ = WarmState::kNever;
  rules_ = &memory.warm_rules();
  for (const Api api : {Api::Malloc, Api::MallocAlign32, Api::MallocCached})
    homes_[static_cast<std::size_t>(api)] = rules_->home(api);
  memory_ = &memory;
  memory_number_ = memory.number();
  base_ = memory.map().window().base;
  bytes_ = memory.map().window().bytes;
  heaps_ = &memory.map().heap_at(base_);
  shard_ = memory.machine().claim_shard();
  kept_ = 0;
  most_kept_ = owns_shard() ? memory.backing().reserve_for_thread() : 0;
  addresses_ = 0;
  most_addresses_ =
      std::min(bytes_, platform::kDeviceWindow) / 256;  // all threads together must not hold the whole window
}

// Of a memory that has ended there is nothing to give back to.
void ThreadCache::leave() {
  if (memory_number_ == 0 || !WarmState::is_current(memory_number_)) return;
  give_all_back();
  if (owns_shard()) memory_->backing().give_back_reserve(most_kept_);
  memory_->machine().release_shard(shard_);
}

void ThreadCache::clear(Shelf& shelf) {
  if (shelf.empty()) return;
  DeviceMemory& device = memory_->device(ShelfKey::device(shelf.key));
  const Page page = ShelfKey::block(shelf.key).page;
  while (!shelf.empty()) device.return_range(take_from(shelf), shelf.pages * 4_KiB, page);
}

std::uintptr_t ThreadCache::take(std::uint64_t key) {
  Shelf* shelf = find(key);
  return shelf == nullptr || shelf->empty() ? 0 : take_from(*shelf);
}

std::uintptr_t ThreadCache::take_from(Shelf& shelf) { return end_contents(shelf, *--shelf.top); }

std::uintptr_t ThreadCache::end_contents(const Shelf& shelf, const Range& range) {
  if ((range.word & Range::kKept) != 0) {
    use_contents(shelf.pages * 4_KiB);
    memory_->backing().on_free(memory_->plain(range.start), shelf.pages * 4_KiB, false);
  }
  return range.start;
}

// Those that were given back last are in the processor's caches.
void ThreadCache::make_room(Shelf& shelf) {
  const auto half = (shelf.limit - shelf.bottom + 1) / 2;
  DeviceMemory& device = memory_->device(ShelfKey::device(shelf.key));
  const Page page = ShelfKey::block(shelf.key).page;
  for (Range* each = shelf.bottom; each != shelf.bottom + half; ++each)
    device.return_range(end_contents(shelf, *each), shelf.pages * 4_KiB, page);
  shelf.top = std::copy(shelf.bottom + half, shelf.top, shelf.bottom);
}

Shelf* ThreadCache::make(std::uint64_t key) {
  if (Shelf* there = find(key)) return there;
  const BlockWord block = ShelfKey::block(key);
  const std::size_t footprint = block.units * 4_KiB;
  const std::size_t depth = depth_for(footprint, kDepth);
  if (depth * footprint > most_addresses_) return nullptr;
  Shelf* shelf = &shelf_at(key);
  if (Shelf& next = neighbour(*shelf); !shelf->empty() && next.empty()) shelf = &next;
  forget(*shelf);
  if (depth * footprint > most_addresses_ - addresses_) give_all_back();
  addresses_ += depth * footprint;
  shelf->key = key;
  routes_[route_to(*shelf)] = shelf;
  routes_[Routes::kNone] = nullptr;
  shelf->pages = block.units;
  shelf->step = machine::Account::step(block.units);
  shelf->account = &memory_->device(ShelfKey::device(key))
                        .quota()
                        .shard(shard_)
                        .of[quota_kind(block.page, block.p2p)]
                        .word;
  shelf->bottom = shelf->top = ranges_[static_cast<std::size_t>(shelf - shelves_.data())].data();
  shelf->limit = shelf->bottom + depth;
  return shelf;
}

void ThreadCache::forget(Shelf& shelf) {
  if (shelf.key == 0) return;
  clear(shelf);
  if (Shelf*& route = routes_[route_to(shelf)]; route == &shelf) route = nullptr;
  addresses_ -= static_cast<std::size_t>(shelf.limit - shelf.bottom) * shelf.pages * 4_KiB;
  shelf = {};
}

void ThreadCache::give_all_back() {
  for (Shelf& shelf : shelves_) forget(shelf);
}

bool ThreadCache::keep(std::uint64_t key, std::uintptr_t start) {
  Shelf* shelf = make(key);
  if (shelf == nullptr) return false;
  if (shelf->full()) make_room(*shelf);
  const std::uint64_t index = heap_at(start).index.load(std::memory_order_acquire);
  const auto place = reinterpret_cast<std::uintptr_t>(&HeapMap::word_at(index, start));
  *shelf->top++ = {start, place | ((index & Heap::kWritten) != 0 ? Range::kWritten : 0)};
  return true;
}

}  // namespace belay
