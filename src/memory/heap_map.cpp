#include "memory/heap_map.h"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace belay {

HeapMap::HeapMap(const platform::AddressRange& window)
    : window_{window},
      count_{window.bytes / kHeapBytes},
      memory_{count_ * sizeof(Heap)},
      heaps_{reinterpret_cast<Heap*>(memory_.start())} {
  if (!memory_ && count_ != 0) throw std::bad_alloc{};
  // Media memory has the first quarter of the driver's window, ordinary memory begins at 11/32 of it: 2 TB
  // and 2.75 TB into 8 TB (D-31).
  const std::size_t drivers = std::min(count_, platform::kDeviceWindow / kHeapBytes);
  const std::size_t media = first_in_gap_ = drivers / 4;
  const std::size_t ordinary = first_ordinary_ = drivers * 11 / 32;
  nowhere_ = heap_start(media);
  if (media > 0) free_media_heaps_.give(0, media);
  if (ordinary > media + 1) free_gap_.give(media + 1, ordinary - media - 1);
  if (count_ > ordinary) free_heaps_.give(ordinary, count_ - ordinary);
}

std::optional<std::size_t> HeapMap::take_heaps(RunMap& region, std::size_t heaps, std::uintptr_t wished) {
  if (wished == 0) return region.take(heaps);
  if (!contains(wished) || wished % kHeapBytes != 0) return std::nullopt;
  const std::size_t at = heap_index(wished);
  return region.take_at(at, heaps) ? std::optional{at} : std::nullopt;
}

std::uintptr_t HeapMap::open_carved(HeapClass heap_class, std::uint32_t device, std::uintptr_t wished) {
  const std::lock_guard lock{opening_};
  const std::optional<std::size_t> at = take_heaps(region_of(heap_class), 1, wished);
  if (!at) return 0;
  Heap& heap = heaps_[*at];
  const std::size_t units = kHeapBytes / unit_of(heap_class);
  platform::SparseMemory tables;
  bool ready = false;
  try {
    tables =
        platform::SparseMemory{units * sizeof(std::uint64_t) + (units + 63) / 64 * sizeof(std::uint32_t)};
    tables_.reserve(tables_.size() + 1);
    ready = static_cast<bool>(tables);
  } catch (const std::bad_alloc&) {
    ready = false;
  }
  if (!ready) {
    region_of(heap_class).give(*at, 1);
    return 0;
  }
  if (on_carve_) on_carve_(*at, heap_class);
  heap.facts.store(nullptr, std::memory_order_relaxed);  // those of a block that had it whole
  heap.covers = reinterpret_cast<std::atomic<std::uint32_t>*>(tables.start() + units * sizeof(std::uint64_t));
  heap.heap_class = heap_class;
  heap.device = static_cast<std::uint8_t>(device);
  heap.index.store(reinterpret_cast<std::uintptr_t>(tables.start()) |
                       static_cast<unsigned>(std::countr_zero(unit_of(heap_class))) |
                       (heap.written.load() ? Heap::kWritten : 0),
                   std::memory_order_release);
  heap.use.store(Heap::Use::Carved, std::memory_order_release);
  tables_.push_back(std::move(tables));
  return heap_start(*at);
}

std::uintptr_t HeapMap::open_whole(std::size_t bytes, std::uint32_t device, HeapClass heap_class,
                                   std::uintptr_t wished) {
  const std::size_t heaps = (bytes + kHeapBytes - 1) / kHeapBytes;
  const std::lock_guard lock{opening_};
  const std::optional<std::size_t> got = take_heaps(region_of(heap_class), heaps, wished);
  if (!got) return 0;
  std::uint64_t written = 0;
  for (std::size_t i = 0; i < heaps; ++i) {
    Heap& heap = heaps_[*got + i];
    if (heap.written.load()) written = Heap::kWritten;
    heap.heap_class = heap_class;
    heap.device = static_cast<std::uint8_t>(device);
    heap.first.store(static_cast<std::uint32_t>(*got), std::memory_order_relaxed);
    heap.whole_word.store(0, std::memory_order_relaxed);
    heap.use.store(i == 0 ? Heap::Use::Whole : Heap::Use::Tail, std::memory_order_release);
  }
  heaps_[*got].index.store(reinterpret_cast<std::uintptr_t>(&heaps_[*got].whole_word) |
                               static_cast<unsigned>(std::countr_zero(kHeapBytes)) | written,
                           std::memory_order_release);
  return heap_start(*got);
}

// Media memory, ordinary memory and what is between them lie one behind the other.
RunMap& HeapMap::region_around(std::size_t index) {
  if (index < first_in_gap_) return free_media_heaps_;
  return index < first_ordinary_ ? free_gap_ : free_heaps_;
}

std::uintptr_t HeapMap::take_for_reservation(std::size_t bytes, std::uintptr_t wished) {
  if (wished != 0 && !contains(wished)) return 0;
  const std::lock_guard lock{opening_};
  const std::optional<std::size_t> got =
      take_heaps(wished == 0 ? free_heaps_ : region_around(heap_index(wished)), bytes / kHeapBytes, wished);
  return got ? heap_start(*got) : 0;
}

void HeapMap::give_from_reservation(std::uintptr_t start, std::size_t bytes) {
  const std::lock_guard lock{opening_};
  region_around(heap_index(start)).give(heap_index(start), bytes / kHeapBytes);
}

void HeapMap::close_whole(std::uintptr_t start, std::size_t bytes) {
  const std::size_t at = heap_index(start);
  const std::size_t heaps = (bytes + kHeapBytes - 1) / kHeapBytes;
  const std::lock_guard lock{opening_};
  heaps_[at].index.store(0, std::memory_order_release);
  for (std::size_t i = 0; i < heaps; ++i)
    heaps_[at + i].use.store(Heap::Use::Closed, std::memory_order_release);
  region_of(heaps_[at].heap_class).give(at, heaps);
}

void HeapMap::on_first_write(std::size_t heap_index) {
  Heap& heap = heaps_[heap_index];
  heap.written.store(true, std::memory_order_release);
  const bool carved = heap.use.load(std::memory_order_relaxed) == Heap::Use::Carved;
  Heap& start = carved ? heap : heaps_[heap.first.load(std::memory_order_relaxed)];
  std::uint64_t index = start.index.load();  // 0 where somebody has freed the block that is written to
  while (index != 0 && !start.index.compare_exchange_weak(index, index | Heap::kWritten)) {
  }
}

// What was noted here before stays: whoever reads it looks at the block's own word and extent.
void HeapMap::cut(std::uintptr_t start, std::size_t bytes) {
  Heap& heap = heap_at(start);
  const std::size_t unit = unit_of(heap.heap_class);
  const std::size_t first = start % kHeapBytes / unit;
  const std::size_t end = first + bytes / unit;
  for (std::size_t group = first / 64 + 1; group * 64 < end; ++group)
    heap.covers[group].store(static_cast<std::uint32_t>(first + 1), std::memory_order_relaxed);
  std::uint32_t cut = heap.cut.load(std::memory_order_relaxed);
  while (cut < end && !heap.cut.compare_exchange_weak(cut, static_cast<std::uint32_t>(end))) {
  }
  // So many small blocks that finding one is a search through megabytes: fewer, larger pages save half of
  // that.
  const std::size_t dense = kHeapBytes / unit / 8 * 7;
  if (unit == 4_KiB && cut < dense && end >= dense)
    platform::use_large_pages(
        &word_at(heap.index.load(std::memory_order_relaxed), round_down(start, kHeapBytes)),
        kHeapBytes / unit * sizeof(std::uint64_t));
}

Block HeapMap::block_from(std::uintptr_t start, std::uint64_t packed) const {
  const Heap& heap = heap_at(start);
  const BlockWord word = BlockWord::unpack(packed);
  // Of a block that has ended meanwhile the table may be gone, too.
  const BlockFacts* facts =
      (packed & BlockWord::kHasFacts) == 0 ? nullptr : heap.facts.load(std::memory_order_acquire);
  if (facts != nullptr) facts += unit_index(heap.index.load(std::memory_order_acquire), start);
  return {start,
          word.asked,
          word.units * 4_KiB,
          heap.device,
          word.page,
          word.origin,
          (packed & BlockWord::kOtherModule) == 0 || facts == nullptr ? kModuleApp : facts->module(),
          word.read_only,
          word.p2p,
          word.leak_reported,
          (packed & BlockWord::kInUse) != 0,
          (packed & BlockWord::kPlain) == 0,
          facts == nullptr ? 0 : facts->serial.load(std::memory_order_relaxed)};
}

BlockFacts* HeapMap::make_facts(Heap& heap) {
  const std::lock_guard lock{opening_};
  if (BlockFacts* made = heap.facts.load()) return made;
  const bool carved = heap.use.load() == Heap::Use::Carved;
  try {
    tables_.reserve(tables_.size() + 1);
    platform::SparseMemory table{(carved ? kHeapBytes / unit_of(heap.heap_class) : 1) * sizeof(BlockFacts)};
    if (!table) return nullptr;
    heap.facts.store(reinterpret_cast<BlockFacts*>(table.start()), std::memory_order_release);
    tables_.push_back(std::move(table));
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return heap.facts.load();
}

BlockFacts* HeapMap::facts_of(std::uintptr_t start) {
  Heap& heap = heap_at(start);
  BlockFacts* first = heap.facts.load(std::memory_order_acquire);
  if (first == nullptr) first = make_facts(heap);
  return first == nullptr ? nullptr : first + unit_index(heap.index.load(std::memory_order_acquire), start);
}

const BlockFacts* HeapMap::facts_if_any(std::uintptr_t start) const {
  const Heap& heap = heap_at(start);
  const BlockFacts* facts = heap.facts.load(std::memory_order_acquire);
  const std::uint64_t index = heap.index.load(std::memory_order_acquire);
  return facts == nullptr || !may_start(index, start) ? nullptr : &facts[unit_index(index, start)];
}

std::uint32_t HeapMap::site_of(std::uintptr_t start) const {
  const BlockFacts* facts = facts_if_any(start);
  return facts == nullptr ? 0 : facts->born.site.load(std::memory_order_relaxed);
}

std::uint64_t HeapMap::time_of(std::uintptr_t start) const {
  const BlockFacts* facts = facts_if_any(start);
  return facts == nullptr ? 0 : facts->born.time_ns.load(std::memory_order_relaxed);
}

std::optional<HeapMap::Ended> HeapMap::ended_around(std::uintptr_t address) const {
  if (!contains(address)) return std::nullopt;
  const std::size_t at = heap_index(address);
  const auto ended_at = [&](std::size_t heap, std::size_t unit, unsigned shift) -> std::optional<Ended> {
    const BlockFacts* all = heaps_[heap].facts.load(std::memory_order_acquire);
    if (all == nullptr) return std::nullopt;
    const BlockFacts& facts = all[unit];
    const std::uint64_t packed = facts.ended_word.load(std::memory_order_relaxed);
    if (packed == 0) return std::nullopt;
    const BlockWord word = BlockWord::unpack(packed);
    const std::uintptr_t start = heap_start(heap) + (unit << shift);
    if (address - start >= word.units * 4_KiB) return std::nullopt;
    return Ended{start,
                 word.asked,
                 word.page,
                 word.read_only,
                 word.p2p,
                 heaps_[heap].device,
                 facts.born.site.load(std::memory_order_relaxed),
                 facts.died.site.load(std::memory_order_relaxed),
                 facts.born.time_ns.load(std::memory_order_relaxed),
                 facts.died.time_ns.load(std::memory_order_relaxed)};
  };
  const Heap& heap = heaps_[at];
  if (heap.use.load(std::memory_order_acquire) != Heap::Use::Carved) {
    // A block of its own begins with its first heap; a device has 255 of them at most.
    for (std::size_t back = 0; back <= std::min<std::size_t>(at, 255); ++back) {
      if (heaps_[at - back].use.load(std::memory_order_acquire) == Heap::Use::Carved) break;
      if (const std::optional<Ended> found = ended_at(at - back, 0, 30)) return found;
    }
    return std::nullopt;
  }
  // Blocks of a carved heap are at most half of it. A live one in between came later: what it is on had ended
  // before, and whoever is behind it may still have been part of it.
  const std::uint64_t index = heap.index.load(std::memory_order_acquire);
  const unsigned shift = index & Heap::kShiftMask;
  const std::size_t unit = address % kHeapBytes >> shift;
  const std::size_t most = std::min(unit, kHeapBytes / 2 >> shift);
  for (std::size_t back = 0; back <= most; ++back) {
    const std::uintptr_t start = heap_start(at) + ((unit - back) << shift);
    if (word_at(index, start).load(std::memory_order_acquire) != 0) continue;
    if (const std::optional<Ended> found = ended_at(at, unit - back, shift)) return found;
  }
  return std::nullopt;
}

// A block may end and another begin here at any moment. Numbers are never used twice, so that whoever comes
// second finds another number here, or another word.
std::uint64_t HeapMap::name(std::uintptr_t start) {
  std::atomic<std::uint64_t>* word = word_of(start);
  BlockFacts* facts = word == nullptr ? nullptr : facts_of(start);
  if (facts == nullptr) return 0;
  const std::uint64_t number = observe::next_serial();
  const std::lock_guard lock{naming_};  // two who name it at once would name it twice
  for (;;) {
    std::uint64_t before = facts->serial.load();
    std::uint64_t now = word->load();
    if (now == 0) return 0;
    if ((now & BlockWord::kHasFacts) != 0) {
      if (facts->serial.load() == before) return before;
      continue;
    }
    if (facts->serial.compare_exchange_strong(before, number) &&
        word->compare_exchange_strong(now, now | BlockWord::kHasFacts))
      return number;
  }
}

std::optional<Block> HeapMap::withdraw(std::uintptr_t start) {
  std::atomic<std::uint64_t>* word = word_of(start);
  if (word == nullptr) return std::nullopt;
  const std::uint64_t was = word->exchange(0);
  if (was == 0) return std::nullopt;
  return block_from(start, was);
}

std::optional<Block> HeapMap::change_word(std::uintptr_t start, std::uint64_t bit, bool set) {
  std::atomic<std::uint64_t>* word = word_of(start);
  if (word == nullptr) return std::nullopt;
  std::uint64_t now = word->load(std::memory_order_relaxed);
  while (now != 0 && !word->compare_exchange_weak(now, set ? now | bit : now & ~bit)) {
  }
  return now == 0 ? std::nullopt : std::optional{block_from(start, now)};
}

HeapMap::Found HeapMap::find_plain(std::uintptr_t address) const {
  const std::size_t index = heap_index(address);
  const Heap& heap = heaps_[index];
  Found found{0, 0};
  switch (heap.use.load(std::memory_order_acquire)) {
    case Heap::Use::Closed:
      return found;
    case Heap::Use::Whole:
    case Heap::Use::Tail: {
      const std::uint32_t first = heap.first.load(std::memory_order_relaxed);
      found = {heap_start(first), heaps_[first].whole_word.load()};
      break;
    }
    case Heap::Use::Carved: {
      const std::uint64_t where = heap.index.load(std::memory_order_acquire);
      const unsigned shift = where & Heap::kShiftMask;
      const std::atomic<std::uint64_t>* words = &word_at(where, heap_start(index));
      const std::size_t at = address % kHeapBytes >> shift;
      std::size_t first = at;
      while ((found.word = words[first].load()) == 0 && first % 64 != 0) --first;
      if (found.word == 0) {
        const std::uint32_t cover = heap.covers[at / 64].load(std::memory_order_relaxed);
        if (cover == 0) return found;
        first = cover - 1;
        found.word = words[first].load();
      }
      found.start = heap_start(index) + (first << shift);
      break;
    }
  }
  if (address >= found.end()) found.word = 0;
  return found;
}

std::optional<Block> HeapMap::find(std::uintptr_t address) const {
  if (!contains(address)) return std::nullopt;
  if (const Found found = find_plain(address); found.word != 0) return block_from(found.start, found.word);
  return std::nullopt;
}

// A run ends with its heap at the latest.
HeapMap::Run HeapMap::run_at(std::size_t offset) const {
  const std::size_t index = offset / kHeapBytes;
  const std::size_t end = (index + 1) * kHeapBytes;
  if (const Found block = find_plain(window_.base + offset); block.word != 0)
    return {true, block.end() - window_.base};
  const Heap& heap = heaps_[index];
  if (heap.use.load(std::memory_order_acquire) != Heap::Use::Carved) return {false, end};
  const std::size_t unit = unit_of(heap.heap_class);
  const std::atomic<std::uint64_t>* words = word_of(heap_start(index));
  const std::size_t cut = heap.cut.load(std::memory_order_acquire);
  std::size_t at = offset % kHeapBytes / unit;
  while (at < cut && words[at].load(std::memory_order_acquire) == 0) ++at;
  return {false, at < cut ? index * kHeapBytes + at * unit : end};
}

}  // namespace belay
