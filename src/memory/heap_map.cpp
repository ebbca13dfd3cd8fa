#include "memory/heap_map.h"

#include <cstdlib>
#include <new>
#include <utility>

namespace belay {
namespace {

template <class T>
T* zeroed(std::size_t count) {
  // calloc, not new: the tables are large and sparse, and calloc's pages cost nothing until touched.
  void* memory = std::calloc(count, sizeof(T));
  if (memory == nullptr) throw std::bad_alloc{};
  return static_cast<T*>(memory);
}

}  // namespace

void HeapMap::Free::operator()(void* memory) const { std::free(memory); }

HeapMap::HeapMap(const platform::AddressRange& window)
    : window_{window}, count_{window.bytes / kHeapBytes}, heaps_{zeroed<Heap>(count_)} {
  // Media memory has the first quarter of the window, ordinary memory begins at 11/32 of it, as on the
  // driver's map: 2 TB and 2.75 TB into 8 TB (D-31).
  const std::size_t media = count_ / 4;
  const std::size_t ordinary = count_ * 11 / 32;
  if (media > 0) free_media_heaps_.give(0, media);
  if (count_ > ordinary) free_heaps_.give(ordinary, count_ - ordinary);
}

HeapMap::~HeapMap() {
  for (std::size_t i = 0; i < count_; ++i) {
    Heap& heap = heaps_[i];
    for (void* table :
         {static_cast<void*>(heap.words), static_cast<void*>(heap.asked), static_cast<void*>(heap.heads),
          static_cast<void*>(heap.covers), static_cast<void*>(heap.committed.load())}) {
      std::free(table);
    }
  }
}

std::uintptr_t HeapMap::open_carved(HeapClass heap_class, std::uint32_t device) {
  std::optional<std::uintptr_t> index;
  {
    const std::lock_guard lock{opening_};
    index = region_of(heap_class).take(1);
  }
  if (!index) return 0;
  Heap& heap = heaps_[*index];
  try {
    const std::size_t units = kHeapBytes / unit_of(heap_class);
    heap.words = zeroed<std::atomic<std::uint64_t>>(units);
    heap.asked = zeroed<std::atomic<std::uint64_t>>(units);
    heap.heads = zeroed<std::atomic<std::uint64_t>>((units + 63) / 64);
    heap.covers = zeroed<std::atomic<std::uint32_t>>((units + 63) / 64);
    if (on_carve_ && !on_carve_(heap, *index, heap_class)) throw std::bad_alloc{};
  } catch (const std::bad_alloc&) {
    std::free(std::exchange(heap.words, nullptr));
    std::free(std::exchange(heap.asked, nullptr));
    std::free(std::exchange(heap.heads, nullptr));
    std::free(std::exchange(heap.covers, nullptr));
    const std::lock_guard lock{opening_};
    region_of(heap_class).give(*index, 1);
    return 0;
  }
  heap.heap_class = heap_class;
  heap.device = static_cast<std::uint8_t>(device);
  heap.use.store(Heap::Use::Carved, std::memory_order_release);
  return heap_start(*index);
}

std::uintptr_t HeapMap::open_whole(std::size_t bytes, std::uint32_t device, HeapClass heap_class) {
  const std::size_t heaps = (bytes + kHeapBytes - 1) / kHeapBytes;
  const std::lock_guard lock{opening_};
  const std::optional<std::uintptr_t> got = region_of(heap_class).take(heaps);
  if (!got) return 0;
  for (std::size_t i = 0; i < heaps; ++i) {
    Heap& heap = heaps_[*got + i];
    heap.heap_class = heap_class;
    heap.device = static_cast<std::uint8_t>(device);
    heap.first.store(static_cast<std::uint32_t>(*got), std::memory_order_relaxed);
    heap.whole_word.store(0, std::memory_order_relaxed);
    heap.use.store(i == 0 ? Heap::Use::Whole : Heap::Use::Tail, std::memory_order_release);
  }
  return heap_start(*got);
}

void HeapMap::close_whole(std::uintptr_t start, std::size_t bytes) {
  const std::size_t index = heap_index(start);
  const std::size_t heaps = (bytes + kHeapBytes - 1) / kHeapBytes;
  const std::lock_guard lock{opening_};
  for (std::size_t i = 0; i < heaps; ++i)
    heaps_[index + i].use.store(Heap::Use::Closed, std::memory_order_release);
  region_of(heaps_[index].heap_class).give(index, heaps);
}

Block HeapMap::block_from(std::uintptr_t start, std::uint64_t packed, std::size_t asked,
                          std::uint32_t device) const {
  const BlockWord word = BlockWord::unpack(packed);
  return {start,       asked,       word.units * 4_KiB, device,   word.page,
          word.origin, word.module, word.read_only,     word.p2p, word.told};
}

void HeapMap::publish(std::uintptr_t start, const BlockWord& word, std::size_t asked) {
  Heap& heap = heap_at(start);
  if (heap.use.load(std::memory_order_relaxed) == Heap::Use::Whole) {
    heap.whole_asked.store(asked, std::memory_order_relaxed);
    heap.whole_word.store(word.pack(), std::memory_order_seq_cst);  // Contents::drop_idle
    return;
  }
  const std::size_t unit = unit_of(heap.heap_class);
  const std::size_t first = (start % kHeapBytes) / unit;
  const std::size_t end = first + word.units * 4_KiB / unit;
  for (std::size_t group = first / 64 + 1; group * 64 < end; ++group) {
    heap.covers[group].store(static_cast<std::uint32_t>(first + 1), std::memory_order_relaxed);
  }
  heap.asked[first].store(asked, std::memory_order_relaxed);
  heap.words[first].store(word.pack(), std::memory_order_release);
  heap.heads[first / 64].fetch_or(std::uint64_t{1} << first % 64, std::memory_order_seq_cst);
}

std::optional<Block> HeapMap::withdraw(std::uintptr_t start) {
  if (!contains(start)) return std::nullopt;
  Heap& heap = heap_at(start);
  const Heap::Use use = heap.use.load(std::memory_order_acquire);
  if (use == Heap::Use::Whole) {
    if (start % kHeapBytes != 0) return std::nullopt;
    const std::size_t asked = heap.whole_asked.load(std::memory_order_relaxed);
    const std::uint64_t word = heap.whole_word.exchange(0, std::memory_order_acq_rel);
    if (word == 0) return std::nullopt;
    return block_from(start, word, asked, heap.device);
  }
  if (use != Heap::Use::Carved) return std::nullopt;
  const std::size_t unit = unit_of(heap.heap_class);
  if (start % unit != 0) return std::nullopt;
  const std::size_t first = (start % kHeapBytes) / unit;
  const std::size_t asked = heap.asked[first].load(std::memory_order_relaxed);
  const std::uint64_t word = heap.words[first].exchange(0, std::memory_order_acq_rel);
  if (word == 0) return std::nullopt;
  const Block block = block_from(start, word, asked, heap.device);
  heap.heads[first / 64].fetch_and(~(std::uint64_t{1} << first % 64), std::memory_order_release);
  for (std::size_t group = first / 64 + 1; group * 64 < first + block.footprint / unit; ++group) {
    heap.covers[group].store(0, std::memory_order_relaxed);
  }
  return block;
}

std::atomic<std::uint64_t>& HeapMap::word_of(std::uintptr_t start) const {
  Heap& heap = heaps_[heap_index(start)];
  if (heap.use.load(std::memory_order_acquire) != Heap::Use::Carved) return heap.whole_word;
  return heap.words[(start % kHeapBytes) / unit_of(heap.heap_class)];
}

void HeapMap::mark_told(std::uintptr_t start) {
  std::atomic<std::uint64_t>& word = word_of(start);
  std::uint64_t now = word.load(std::memory_order_relaxed);
  while (now != 0 && !word.compare_exchange_weak(now, now | BlockWord::kTold)) {
  }
}

std::optional<Block> HeapMap::find(std::uintptr_t address) const {
  if (!contains(address)) return std::nullopt;
  const std::size_t index = heap_index(address);
  const Heap& heap = heaps_[index];
  switch (heap.use.load(std::memory_order_acquire)) {
    case Heap::Use::Closed:
      return std::nullopt;
    case Heap::Use::Whole:
    case Heap::Use::Tail: {
      const std::uint32_t first = heap.first.load(std::memory_order_relaxed);
      const Heap& head = heaps_[first];
      const std::uint64_t word = head.whole_word.load(std::memory_order_acquire);
      if (word == 0) return std::nullopt;
      const Block block =
          block_from(heap_start(first), word, head.whole_asked.load(std::memory_order_relaxed), head.device);
      if (address - block.start >= block.footprint) return std::nullopt;
      return block;
    }
    case Heap::Use::Carved:
      break;
  }
  const std::size_t unit = unit_of(heap.heap_class);
  const std::size_t at = (address % kHeapBytes) / unit;
  const std::uint64_t up_to_here = ~std::uint64_t{0} >> (63 - at % 64);
  const std::uint64_t bits = heap.heads[at / 64].load(std::memory_order_acquire) & up_to_here;
  std::size_t first = 0;
  if (bits != 0) {
    first = at / 64 * 64 + 63 - static_cast<std::size_t>(__builtin_clzll(bits));
  } else {
    const std::uint32_t cover = heap.covers[at / 64].load(std::memory_order_acquire);
    if (cover == 0) return std::nullopt;
    first = cover - 1;
  }
  const std::uint64_t word = heap.words[first].load(std::memory_order_acquire);
  if (word == 0) return std::nullopt;
  const Block block = block_from(heap_start(index) + first * unit, word,
                                 heap.asked[first].load(std::memory_order_relaxed), heap.device);
  if (address - block.start >= block.footprint) return std::nullopt;
  return block;
}

}  // namespace belay
