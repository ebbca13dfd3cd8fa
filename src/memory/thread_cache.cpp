#include "memory/thread_cache.h"

#include <algorithm>
#include <bit>
#include <new>

#include "memory/memory.h"
#include "platform/sparse_memory.h"
#include "platform/thread_end.h"

namespace belay {
namespace {
// How many ranges of a size a bin holds.
std::size_t depth_for(std::size_t footprint, std::size_t most) {
  if (footprint <= 64_KiB) return most;
  if (footprint <= 1_MiB) return most / 4;
  return footprint <= 64_MiB ? most / 16 : 1;
}
}  // namespace

struct CacheKeeper {
  static ThreadCache none;
  // Half a megabyte, of which little is touched.
  static ThreadCache* make() {
    platform::SparseMemory memory{sizeof(ThreadCache)};
    if (!memory) return nullptr;
    if (!platform::at_thread_end(give_back)) return nullptr;
    return new (memory.release()) ThreadCache;
  }
  // Everything, when the thread ends.
  static void give_back() {
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
    ThreadCache* made = CacheKeeper::make();
    if (made == nullptr) return nullptr;
    t_cache = made;
  }
  // The epoch is read before it is asked whose it is: the answer holds for that epoch or an older one.
  const std::uint64_t epoch = FastPathState::epoch_alone(FastPathState::now());
  if (t_cache->memory_number_ != memory.number()) t_cache->settle(memory);
  // The fast path gives to a shard as only its owner may.
  t_cache->epoch_ =
      t_cache->owns_shard() && FastPathState::is_current(memory.number()) ? epoch : FastPathState::kNever;
  return t_cache;
}

void ThreadCache::forget_device() {
  if (t_cache != &CacheKeeper::none) t_cache->device_epoch_ = FastPathState::kNever;
}

void ThreadCache::set_device(std::uint64_t epoch, std::uint32_t device) {
  if (epoch != epoch_) return;  // of another memory, by now
  if (device != device_) {
    for (Bin& bin : bins_) enter_class(bin, false);
    device_ = device;
    for (Bin& bin : bins_) enter_class(bin, true);
  }
  device_epoch_ = epoch;
}

// Only blocks of the device that the thread's requests go to have one.
void ThreadCache::enter_class(Bin& bin, bool there) {
  const std::uint64_t word = BinKey::word(bin.key);
  const std::size_t size_class = SizeClass::of(word);
  if (bin.key == 0 || BinKey::device(bin.key) != device_ || size_class >= SizeClass::kCount) return;
  classes_[size_class] = there ? &bin : nullptr;
}

void ThreadCache::settle(Memory& memory) {
  leave();
  for (Bin& bin : bins_) {
    enter_class(bin, false);
    bin = {};
  }
  device_epoch_ = FastPathState::kNever;
  rules_ = memory.fast_rules();
  memory_ = &memory;
  memory_number_ = memory.number();
  base_ = memory.map().window().base;
  bytes_ = memory.map().window().bytes;
  heaps_ = &memory.map().heap_at(base_);
  shard_ = machine::PageQuota::kCommonShard;
  shard_ = memory.machine().claim_shard();  // or nothing, where it throws
  kept_ = 0;
  most_kept_ = owns_shard() ? memory.backing().reserve_for_thread() : 0;
  addresses_ = 0;
  most_addresses_ =
      std::min(bytes_, platform::kDeviceWindow) / 256;  // all threads together must not hold the whole window
}

// Of a memory that has ended there is nothing to give back to.
void ThreadCache::leave() {
  if (memory_number_ == 0 || !FastPathState::is_current(memory_number_)) return;
  give_all_back();
  if (owns_shard()) memory_->backing().give_back_reserve(most_kept_);
  memory_->machine().release_shard(shard_);
}

void ThreadCache::clear(Bin& bin) {
  if (bin.empty()) return;
  DeviceMemory& device = memory_->device(BinKey::device(bin.key));
  const Page page = BinKey::block(bin.key).page;
  while (!bin.empty()) device.return_range(take_from(bin), bin.pages * 4_KiB, page);
}

std::uintptr_t ThreadCache::take(std::uint64_t key) {
  Bin* bin = find(key);
  return bin == nullptr || bin->empty() ? 0 : take_from(*bin);
}

std::uintptr_t ThreadCache::take_from(Bin& bin) { return end_contents(bin, *--bin.top); }

std::uintptr_t ThreadCache::end_contents(const Bin& bin, const Range& range) {
  if ((range.word & Range::kKept) != 0) {
    use_contents(bin.pages * 4_KiB);
    memory_->backing().on_free(memory_->plain(range.start), bin.pages * 4_KiB, false);
  }
  return range.start;
}

// Those that were given back last are in the processor's caches.
void ThreadCache::make_room(Bin& bin) {
  const auto half = (bin.limit - bin.bottom + 1) / 2;
  DeviceMemory& device = memory_->device(BinKey::device(bin.key));
  const Page page = BinKey::block(bin.key).page;
  for (Range* each = bin.bottom; each != bin.bottom + half; ++each)
    device.return_range(end_contents(bin, *each), bin.pages * 4_KiB, page);
  bin.top = std::copy(bin.bottom + half, bin.top, bin.bottom);
}

Bin* ThreadCache::make(std::uint64_t key) {
  if (Bin* there = find(key)) return there;
  const BlockWord block = BinKey::block(key);
  const std::size_t footprint = block.units * 4_KiB;
  const std::size_t depth = depth_for(footprint, kDepth);
  if (depth * footprint > most_addresses_) return nullptr;
  Bin* bin = &bin_at(key);
  if (Bin& next = neighbour(*bin); !bin->empty() && next.empty()) bin = &next;
  forget(*bin);
  if (depth * footprint > most_addresses_ - addresses_) give_all_back();
  addresses_ += depth * footprint;
  bin->key = key;
  enter_class(*bin, true);
  bin->pages = block.units;
  bin->step = machine::Account::step(block.units);
  bin->account =
      &memory_->device(BinKey::device(key)).quota().shard(shard_).of[quota_kind(block.page, block.p2p)].word;
  bin->bottom = bin->top = ranges_[static_cast<std::size_t>(bin - bins_.data())].data();
  bin->limit = bin->bottom + depth;
  bin->told =
      observe::Event{.what = {},
                     .object = observe::Object::DeviceBlock,
                     .page_shift = static_cast<std::uint8_t>(std::countr_zero(page_bytes(block.page))),
                     .module = kModuleApp,
                     .device = static_cast<std::uint8_t>(BinKey::device(key)),
                     .flags = flags_of(block.read_only, block.p2p)}
          .first_word();
  return bin;
}

void ThreadCache::forget(Bin& bin) {
  if (bin.key == 0) return;
  clear(bin);
  enter_class(bin, false);
  addresses_ -= static_cast<std::size_t>(bin.limit - bin.bottom) * bin.pages * 4_KiB;
  bin = {};
}

void ThreadCache::give_all_back() {
  for (Bin& bin : bins_) forget(bin);
}

bool ThreadCache::keep(std::uint64_t key, std::uintptr_t start) {
  Bin* bin = make(key);
  if (bin == nullptr) return false;
  if (bin->full()) make_room(*bin);
  const std::uint64_t index = heap_at(start).index.load(std::memory_order_acquire);
  const auto place = reinterpret_cast<std::uintptr_t>(&HeapMap::word_at(index, start));
  *bin->top++ = {start, place | ((index & Heap::kWritten) != 0 ? Range::kWritten : 0)};
  return true;
}

}  // namespace belay
