#include "memory/thread_cache.h"

#include <algorithm>
#include <bit>
#include <new>

#include "memory/memory.h"
#include "platform/sparse_memory.h"
#include "platform/thread_end.h"

namespace belay {

struct CacheKeeper {
  static ThreadCache none;
  // Megabytes, of which little is touched.
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
    for_each_bin([this](Bin& bin) { enter_class(bin, false); });
    device_ = device;
    for_each_bin([this](Bin& bin) { enter_class(bin, true); });
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
  for_each_bin([this](Bin& bin) {
    enter_class(bin, false);
    bin = {};
  });
  used_ = {};
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

template <class Act>
void ThreadCache::for_each_bin(Act&& act) {
  for (std::size_t word = 0; word < used_.size(); ++word) {
    for (std::uint64_t left = used_[word]; left != 0; left &= left - 1)
      act(bins_[word * 64 + static_cast<std::size_t>(std::countr_zero(left))]);
  }
}

void ThreadCache::give_back(Bin& bin, std::size_t oldest) {
  if (oldest == 0) return;
  std::array<std::uintptr_t, kDepth> starts;
  for (std::size_t i = 0; i < oldest; ++i) starts[i] = end_contents(bin, bin.bottom[i]);
  memory_->device(BinKey::device(bin.key))
      .return_ranges(std::span{starts}.first(oldest), bin.pages * 4_KiB, BinKey::block(bin.key).page);
  bin.top = std::copy(bin.bottom + oldest, bin.top, bin.bottom);
}

// Those that were given back last are in the processor's caches.
void ThreadCache::make_room(Bin& bin) {
  if (!deepen(bin)) give_back(bin, static_cast<std::size_t>(bin.limit - bin.bottom + 1) / 2);
}

// Half of the addresses are for sizes to come.
bool ThreadCache::deepen(Bin& bin) {
  const auto depth = static_cast<std::size_t>(bin.limit - bin.bottom);
  const std::size_t bytes = depth * bin.pages * 4_KiB;
  if (depth < kFew || depth == kDepth || addresses_ + bytes > most_addresses_ / 2) return false;
  addresses_ += bytes;
  Range* place = ranges_[number_of(bin)].data();
  bin.top = std::copy(bin.bottom, bin.top, place);
  bin.bottom = place;
  bin.limit = place + 2 * depth;
  return true;
}

Bin* ThreadCache::make(std::uint64_t key) {
  if (Bin* there = find(key)) return there;
  const BlockWord block = BinKey::block(key);
  const std::size_t footprint = block.units * 4_KiB;
  const std::size_t depth = footprint <= kLargestCarved ? kFew : 1;
  if (depth * footprint > most_addresses_) return nullptr;
  // One that is nobody's, else one with nothing in it, else the first.
  const std::size_t first = place_of(key);
  Bin* bin = &bins_[first];
  for (std::size_t each = 1; each < kChoices && bin->key != 0; ++each) {
    if (Bin& other = bins_[first ^ each]; other.key == 0 || (other.empty() && !bin->empty())) bin = &other;
  }
  forget(*bin);
  if (depth * footprint > most_addresses_ - addresses_) give_all_back();
  addresses_ += depth * footprint;
  bin->key = key;
  used_[number_of(*bin) / 64] |= std::uint64_t{1} << number_of(*bin) % 64;
  enter_class(*bin, true);
  bin->pages = block.units;
  bin->step = machine::Account::step(block.units);
  bin->account =
      &memory_->device(BinKey::device(key)).quota().shard(shard_).of[quota_kind(block.page, block.p2p)].word;
  bin->bottom = bin->top = few_ranges_[number_of(*bin)].data();
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
  give_back(bin, static_cast<std::size_t>(bin.top - bin.bottom));
  enter_class(bin, false);
  addresses_ -= static_cast<std::size_t>(bin.limit - bin.bottom) * bin.pages * 4_KiB;
  used_[number_of(bin) / 64] &= ~(std::uint64_t{1} << number_of(bin) % 64);
  bin = {};
}

void ThreadCache::give_all_back() {
  for_each_bin([this](Bin& bin) { forget(bin); });
}

bool ThreadCache::keep(std::uint64_t key, std::uintptr_t start) {
  Bin* bin = make(key);
  if (bin == nullptr) return false;
  if (bin->full()) make_room(*bin);
  const std::uint64_t index = heap_at(start).index.load(std::memory_order_acquire);
  const std::atomic<std::uint64_t>& word = HeapMap::word_at(index, start);
  __builtin_prefetch(&word, 1);  // several are fetched at a time, and are far apart after frees in any order
  const auto place = reinterpret_cast<std::uintptr_t>(&word);
  *bin->top++ = {start, place | ((index & Heap::kWritten) != 0 ? Range::kWritten : 0)};
  return true;
}

}  // namespace belay
