// Which block does an address belong to?
//
// The window of device addresses is cut into heaps of 1 GB. A heap is either carved into blocks of one
// device and one page kind, or part of a single large block. Each heap is indexed in its own unit
// (4 KB or 2 MB), so that an address leads to its block by a few loads, however many blocks live:
//
//   address -> heap (>> 30) -> unit -> word at the block's first unit
//
// An interior address finds the first unit through one bit per unit and, for every 64 units, the block
// that covers their start. Readers take no lock; a block is published by storing its word last and
// withdrawn by exchanging the word, which also decides who wins a double free.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "memory/plan.h"
#include "memory/run_map.h"
#include "platform/address_space.h"

namespace belay {

// What a heap is carved for. Media and host blocks live apart because their unit is not their page.
enum class HeapClass : std::uint8_t { Normal, Huge2M, Media, Host };
inline constexpr std::size_t kHeapClasses = 4;
inline constexpr std::size_t kHeapBytes = 1_GiB;

constexpr std::size_t unit_of(HeapClass c) { return c == HeapClass::Huge2M ? 2_MiB : 4_KiB; }

enum class Origin : std::uint8_t { Malloc, MediaV1, MediaV2, Host };

// Everything that freeing needs, in one word.
struct BlockWord {
  std::size_t units;  // of 4 KB
  Page page;
  Origin origin;
  std::uint8_t module;
  bool read_only, p2p;
  bool told = false;  // a leak report has listed it

  static constexpr std::uint64_t kTold = 1U << 7;
  std::uint64_t pack() const {
    return 1U | static_cast<unsigned>(read_only) << 1 | static_cast<unsigned>(p2p) << 2 |
           static_cast<unsigned>(page) << 3 | static_cast<unsigned>(origin) << 5 |
           static_cast<std::uint64_t>(module) << 8 | static_cast<std::uint64_t>(units) << 16;
  }
  static BlockWord unpack(std::uint64_t word) {
    return {static_cast<std::size_t>(word >> 16),
            static_cast<Page>(word >> 3 & 3),
            static_cast<Origin>(word >> 5 & 3),
            static_cast<std::uint8_t>(word >> 8),
            (word & 2) != 0,
            (word & 4) != 0,
            (word & kTold) != 0};
  }
};

struct Block {
  std::uintptr_t start;
  std::size_t asked, footprint;
  std::uint32_t device;
  Page page;
  Origin origin;
  std::uint8_t module;
  bool read_only, p2p, told;
};

struct Heap {
  enum class Use : std::uint8_t { Closed, Carved, Whole, Tail };  // Tail: a further gigabyte of a Whole block

  std::atomic<Use> use;
  HeapClass heap_class;
  std::uint8_t device;
  std::atomic<std::uint32_t> first;  // of a Tail: the heap where its block starts
  std::atomic<std::uint64_t> whole_word, whole_asked;

  // Carved: per unit, and per 64 units.
  std::atomic<std::uint64_t>* words;
  std::atomic<std::uint64_t>* asked;
  std::atomic<std::uint64_t>* heads;
  std::atomic<std::uint32_t>* covers;  // first unit + 1 of the block that covers the start of the 64

  // Contents (contents.h): our view of the bytes, and which granules have ever been written.
  std::atomic<std::byte*> view;
  std::atomic<bool> viewless;
  std::atomic<bool> written;  // any granule, ever: blocks of other heaps need not look at the table
  std::atomic<std::atomic<std::uint64_t>*> committed;
  std::atomic<std::uint8_t> granule_shift;
  std::atomic<Page> large;                           // the pages of the blocks here, if whole ones
  std::array<std::atomic<std::uint64_t>, 8> pooled;  // which 2 MB are pages of the kernel's pool
};

class HeapMap {
 public:
  explicit HeapMap(const platform::AddressRange& window);
  HeapMap(const HeapMap&) = delete;
  HeapMap& operator=(const HeapMap&) = delete;
  ~HeapMap();

  bool contains(std::uintptr_t address) const { return window_.contains(address); }
  const platform::AddressRange& window() const { return window_; }
  std::size_t heap_index(std::uintptr_t address) const { return (address - window_.base) / kHeapBytes; }
  std::uintptr_t heap_start(std::size_t index) const { return window_.base + index * kHeapBytes; }
  Heap& heap_at(std::uintptr_t address) { return heaps_[heap_index(address)]; }
  std::size_t heap_count() const { return count_; }

  // Called with a heap that nobody sees yet, before it is carved; false: it cannot be (contents.h).
  using OnCarve = std::function<bool(Heap& heap, std::size_t index, HeapClass heap_class)>;
  void on_carve(OnCarve hook) { on_carve_ = std::move(hook); }

  // A fresh heap to carve, or 0 when the window or the host's memory is used up.
  std::uintptr_t open_carved(HeapClass heap_class, std::uint32_t device);
  // Heaps for a block of its own; they go back with close_whole.
  std::uintptr_t open_whole(std::size_t bytes, std::uint32_t device, HeapClass heap_class);
  void close_whole(std::uintptr_t start, std::size_t bytes);

  void publish(std::uintptr_t start, const BlockWord& word, std::size_t asked);
  // Ends the block that starts exactly here. Empty if there is none: unknown, interior, already freed.
  std::optional<Block> withdraw(std::uintptr_t start);
  std::optional<Block> find(std::uintptr_t address) const;
  void mark_told(std::uintptr_t start);

  // Calls visit(const Block&) for every live block of a device.
  template <class Visit>
  void for_each_block(std::uint32_t device, Visit&& visit) const;

 private:
  std::atomic<std::uint64_t>& word_of(std::uintptr_t start) const;
  Block block_from(std::uintptr_t start, std::uint64_t word, std::size_t asked, std::uint32_t device) const;

  struct Free {
    void operator()(void* memory) const;
  };
  platform::AddressRange window_;
  std::size_t count_;
  std::unique_ptr<Heap[], Free> heaps_;
  RunMap& region_of(HeapClass heap_class) {
    return heap_class == HeapClass::Media ? free_media_heaps_ : free_heaps_;
  }

  OnCarve on_carve_;
  std::mutex opening_;
  RunMap free_heaps_;
  RunMap free_media_heaps_;
};

template <class Visit>
void HeapMap::for_each_block(std::uint32_t device, Visit&& visit) const {
  for (std::size_t h = 0; h < count_; ++h) {
    const Heap& heap = heaps_[h];
    const Heap::Use use = heap.use.load(std::memory_order_acquire);
    if ((use != Heap::Use::Carved && use != Heap::Use::Whole) || heap.device != device) continue;
    if (use == Heap::Use::Whole) {
      if (const std::uint64_t word = heap.whole_word.load(std::memory_order_acquire); word != 0) {
        visit(block_from(heap_start(h), word, heap.whole_asked.load(std::memory_order_relaxed), device));
      }
      continue;
    }
    const std::size_t unit = unit_of(heap.heap_class);
    for (std::size_t group = 0; group < (kHeapBytes / unit + 63) / 64; ++group) {
      for (std::uint64_t bits = heap.heads[group].load(std::memory_order_acquire); bits != 0;
           bits &= bits - 1) {
        const std::size_t at = group * 64 + static_cast<std::size_t>(__builtin_ctzll(bits));
        const std::uint64_t word = heap.words[at].load(std::memory_order_acquire);
        if (word != 0) {
          visit(block_from(heap_start(h) + at * unit, word, heap.asked[at].load(std::memory_order_relaxed),
                           device));
        }
      }
    }
  }
}

}  // namespace belay
