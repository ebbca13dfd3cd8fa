// Which block does an address belong to?
//
// The window of device addresses is cut into heaps of 1 GB. A heap is either carved into blocks of one
// device and one page kind, or part of a single large block. Each heap is indexed in its own unit
// (4 KB, 2 MB or 1 GB), so that an address leads to its block by a few loads, however many blocks live:
//
//   address -> heap (>> 30) -> unit -> word at the block's first unit
//
// An interior address looks back over the words of its 64 units for the first unit of its block, and where
// there is none, at who covers the start of those 64. Readers take no lock; a block is published by storing
// its word and withdrawn by exchanging the word, which also decides who wins a double free.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "memory/block_facts.h"
#include "memory/block_index.h"
#include "memory/plan.h"
#include "memory/run_map.h"
#include "platform/address_space.h"
#include "platform/sparse_memory.h"

namespace belay {

// What a heap is carved for. Media and host blocks live apart because their unit is not their page.
enum class HeapClass : std::uint8_t { Normal, Huge2M, Media, Host };
inline constexpr std::size_t kHeapClasses = 4;
inline constexpr std::size_t kHeapBytes = 1_GiB;

constexpr std::size_t unit_of(HeapClass c) { return c == HeapClass::Huge2M ? 2_MiB : 4_KiB; }

enum class Origin : std::uint8_t { Malloc, MediaV1, MediaV2, Host };  // there is room for four more

// What everybody needs to know about a block, in one word. Bits 12 to 15 are free.
struct BlockWord {
  std::size_t units;  // of 4 KB
  std::size_t asked;  // bytes
  Page page;
  Origin origin;
  bool read_only, p2p;
  bool leak_reported = false;  // a leak report has listed it

  static constexpr std::uint64_t kPlain = 1;  // else it has left the shortcut (physical_memory.h)
  static constexpr std::uint64_t kLeakReported = 1U << 8;
  static constexpr std::uint64_t kHasFacts = 1U << 9;      // block_facts.h
  static constexpr std::uint64_t kOtherModule = 1U << 10;  // not APP: the facts say which
  static constexpr std::uint64_t kInUse = 1U << 11;        // queued work touches it, or did
  // The size in units of 4 KB, and how much of it nobody asked for: less than 4 MB. Blocks of 1 GB pages have
  // fewer bits for the one and more for the other.
  static constexpr unsigned kUnitsShift = 16;
  static constexpr unsigned kSlackShift = 42;
  static constexpr unsigned kGiantSlackShift = 24;
  static constexpr std::size_t kGiantUnits = 1_GiB / 4_KiB;

  static constexpr std::uint64_t flags(Page page, Origin origin, bool read_only, bool p2p) {
    return kPlain | static_cast<unsigned>(read_only) << 1 | static_cast<unsigned>(p2p) << 2 |
           static_cast<unsigned>(page) << 3 | static_cast<unsigned>(origin) << 5;
  }
  constexpr std::uint64_t pack() const {
    const std::uint64_t slack = units * 4_KiB - asked;
    const std::uint64_t size = page == Page::Huge1G
                                   ? units / kGiantUnits << kUnitsShift | slack << kGiantSlackShift
                                   : units << kUnitsShift | slack << kSlackShift;
    return flags(page, origin, read_only, p2p) | size;
  }
  static constexpr unsigned slack_shift(Page page) {
    return page == Page::Huge1G ? kGiantSlackShift : kSlackShift;
  }
  // As it is written: in 4 KB, but for blocks of 1 GB pages.
  static constexpr std::size_t unit_field(std::uint64_t word) {
    return word >> kUnitsShift & ((1U << (kSlackShift - kUnitsShift)) - 1);
  }
  // All but how much of it nobody asked for.
  static constexpr std::uint64_t without_slack(std::uint64_t word) {
    return word & ((std::uint64_t{1} << slack_shift(page_of(word))) - 1);
  }
  static constexpr Page page_of(std::uint64_t word) { return static_cast<Page>(word >> 3 & 3); }
  static constexpr std::uint64_t kReadOnly = 2, kP2p = 4;  // as events tell them (observe/event.h)
  static_assert(kReadOnly == observe::Event::kReadOnly && kP2p == observe::Event::kP2p);
  static constexpr bool is_read_only(std::uint64_t word) { return (word & kReadOnly) != 0; }
  static constexpr bool is_p2p(std::uint64_t word) { return (word & kP2p) != 0; }
  static constexpr std::size_t units_of(std::uint64_t word) {
    return page_of(word) == Page::Huge1G ? (word >> kUnitsShift & 0xFF) * kGiantUnits : unit_field(word);
  }
  static constexpr BlockWord unpack(std::uint64_t word) {
    const Page page = page_of(word);
    const bool giant = page == Page::Huge1G;
    const std::size_t units = units_of(word);
    const std::size_t slack = giant ? word >> kGiantSlackShift : word >> kSlackShift;
    return {units,
            units * 4_KiB - slack,
            page,
            static_cast<Origin>(word >> 5 & 7),
            is_read_only(word),
            is_p2p(word),
            (word & kLeakReported) != 0};
  }
};

struct Block {
  std::uintptr_t start;
  std::size_t asked, footprint;
  std::uint32_t device;
  Page page;
  Origin origin;
  std::uint8_t module;
  bool read_only, p2p, leak_reported;
  bool in_use = false;  // queued work touches it, or did: only where that is asked for (Memory::mark_use)
  bool shared = false;  // it has left the shortcut: other processes may hold it
  std::uint64_t serial = 0;  // 0: it was not named yet
  // It is a mapping (mappings.h), and these may use it.
  bool mapped = false;
  bool imported = false;  // it leads to memory of another process
  bool owner_may_use = true;
  std::uint64_t devices = 0;  // of the machine, a bit each

  bool may_be_used_by(std::uint32_t device_of_machine) const {
    return owner_may_use || (devices >> device_of_machine & 1) != 0;
  }
};
// In place of a device: memory that is mapped, but on the host.
inline constexpr std::uint32_t kOnHost = 0xFF;

struct alignas(128) Heap {
  // Tail: a further gigabyte of a Whole block. Closed: no blocks are here.
  enum class Use : std::uint8_t { Closed, Carved, Whole, Tail };

  std::atomic<std::uint64_t> whole_word;
  std::atomic<std::uint32_t>*
      covers;                      // Carved: for every 64 units, first unit + 1 of what covers their start
  std::atomic<std::uint32_t> cut;  // Carved: units from here on never held a block
  std::atomic<bool> written;       // anything here, ever
  std::atomic<BlockFacts*> facts;  // beside its words; null: no block needed any yet
  // In the second line, not to lie as far into its page as the first word of the heap (thread_cache.h).
  // Where its words are, how large its unit is, and whether anything was ever written to its blocks, in one
  // word, so that whoever comes with a stale address never mixes the one with the other. 0: no block starts
  // here.
  alignas(64) std::atomic<std::uint64_t> index;
  static constexpr std::uint64_t kIndexAlign = 64;
  static constexpr std::uint64_t kShiftMask = 31;
  static constexpr std::uint64_t kWritten = 32;
  std::uint8_t device;
  HeapClass heap_class;
  std::atomic<Use> use;
  std::atomic<std::uint32_t> first;  // of a Tail: the heap where its block starts
};

class HeapMap final : public BlockIndex {
 public:
  explicit HeapMap(const platform::AddressRange& window);
  HeapMap(const HeapMap&) = delete;
  HeapMap& operator=(const HeapMap&) = delete;

  bool contains(std::uintptr_t address) const { return window_.contains(address); }
  const platform::AddressRange& window() const { return window_; }
  std::size_t heap_index(std::uintptr_t address) const { return (address - window_.base) / kHeapBytes; }
  std::uintptr_t heap_start(std::size_t index) const { return window_.base + index * kHeapBytes; }
  Heap& heap_at(std::uintptr_t address) { return heaps_[heap_index(address)]; }
  const Heap& heap_at(std::uintptr_t address) const { return heaps_[heap_index(address)]; }

  // An address of the window where there will never be anything: one page for each device, between the media
  // memory and the rest. For what only code of the device would follow.
  std::uintptr_t nowhere(std::uint32_t device) const { return nowhere_ + device * 4_KiB; }

  // Called with a heap that nobody sees yet, before it is carved.
  using OnCarve = std::function<void(std::size_t index, HeapClass heap_class)>;
  void on_carve(OnCarve hook) { on_carve_ = std::move(hook); }

  // A fresh heap to carve, or 0 when the window or the host's memory is used up. These three: at the wished
  // address, if that is not 0.
  std::uintptr_t open_carved(HeapClass heap_class, std::uint32_t device, std::uintptr_t wished = 0);
  // Heaps for a block of its own; they go back with close_whole.
  std::uintptr_t open_whole(std::size_t bytes, std::uint32_t device, HeapClass heap_class,
                            std::uintptr_t wished = 0);
  void close_whole(std::uintptr_t start, std::size_t bytes);

  // Whole heaps for addresses that lead elsewhere (mappings.h), and back; 0: there is no room.
  std::uintptr_t take_for_reservation(std::size_t bytes, std::uintptr_t wished);
  void give_from_reservation(std::uintptr_t start, std::size_t bytes);

  Run run_at(std::size_t offset) const override;
  // From now on blocks that start here, and those that reach here, are known to have been written to.
  void on_first_write(std::size_t index) override;

  // A range of a carved heap will hold blocks of exactly this size, until it is cut anew.
  void cut(std::uintptr_t start, std::size_t bytes);

  void publish(std::uintptr_t start, std::uint64_t word) { word_of(start)->store(word); }
  // Ends the block that starts exactly here. Empty if there is none: unknown, interior, already freed.
  std::optional<Block> withdraw(std::uintptr_t start);
  std::optional<Block> find(std::uintptr_t address) const;  // a plain one
  // The plain block around an address of the window, as it is written; a word of 0: none.
  struct Found {
    std::uintptr_t start;
    std::uint64_t word;
    std::uintptr_t end() const { return start + BlockWord::units_of(word) * 4_KiB; }
  };
  Found find_plain(std::uintptr_t address) const;
  Block block_from(std::uintptr_t start, std::uint64_t word) const;
  // Where the facts of a block that starts here are; null: none are, and there is no memory to make any.
  BlockFacts* facts_of(std::uintptr_t start);
  // Where call sites are kept: of the live block that starts here, where it was allocated; 0: not known.
  std::uint32_t site_of(std::uintptr_t start) const;
  std::uint64_t time_of(std::uintptr_t start) const;  // the same: when; 0 where only lines are kept
  // The last block that was around an address where none is alive now.
  struct Ended {
    std::uintptr_t start;
    std::size_t asked;
    Page page;
    bool read_only, p2p;
    std::uint32_t device, made_at, ended_at;
    std::uint64_t made_ns, ended_ns;
  };
  std::optional<Ended> ended_around(std::uintptr_t address) const;
  // The number of the live block that starts here, which it gets now if it had none; 0: there is none.
  std::uint64_t name(std::uintptr_t start);
  void mark_leak_reported(std::uintptr_t start) { change_word(start, BlockWord::kLeakReported, true); }
  // The same for work that touches it; the fast path leaves it alone then.
  void mark_in_use(std::uintptr_t start) { change_word(start, BlockWord::kInUse, true); }
  // From now on the fast path leaves this block alone, or no longer. Empty: there is none.
  std::optional<Block> leave_shortcut(std::uintptr_t start) {
    return change_word(start, BlockWord::kPlain, false);
  }
  void rejoin_shortcut(std::uintptr_t start) { change_word(start, BlockWord::kPlain, true); }

  // Calls visit(const Block&) for every live block of a device.
  template <class Visit>
  void for_each_block(std::uint32_t device, Visit&& visit) const;

  // The word of a block that starts here; null where none can.
  std::atomic<std::uint64_t>* word_of(std::uintptr_t start) const {
    if (!contains(start)) return nullptr;
    const std::uint64_t index = heaps_[heap_index(start)].index.load(std::memory_order_acquire);
    return may_start(index, start) ? &word_at(index, start) : nullptr;
  }
  // The same in two steps, for a heap's index.
  static bool may_start(std::uint64_t index, std::uintptr_t start) {
    const unsigned shift = index & Heap::kShiftMask;
    return index != 0 && (start % kHeapBytes >> shift) << shift == start % kHeapBytes;
  }
  static std::atomic<std::uint64_t>& word_at(std::uint64_t index, std::uintptr_t start) {
    return reinterpret_cast<std::atomic<std::uint64_t>*>(
        round_down(index, Heap::kIndexAlign))[unit_index(index, start)];
  }
  // For a heap that has facts.
  static BlockFacts& facts_at(const Heap& heap, std::uint64_t index, std::uintptr_t start) {
    return heap.facts.load(std::memory_order_acquire)[unit_index(index, start)];
  }
  static std::size_t unit_index(std::uint64_t index, std::uintptr_t start) {
    return start % kHeapBytes >> (index & Heap::kShiftMask);
  }

 private:
  platform::AddressRange window_;
  std::size_t count_;
  platform::SparseMemory memory_;
  Heap* heaps_;
  std::vector<platform::SparseMemory> tables_;  // of carved heaps, which stay carved
  RunMap& region_of(HeapClass heap_class) {
    return heap_class == HeapClass::Media ? free_media_heaps_ : free_heaps_;
  }

  BlockFacts* make_facts(Heap& heap);
  const BlockFacts* facts_if_any(std::uintptr_t start) const;
  std::optional<Block> change_word(std::uintptr_t start, std::uint64_t bit, bool set);
  std::optional<std::size_t> take_heaps(RunMap& region, std::size_t heaps, std::uintptr_t wished);
  RunMap& region_around(std::size_t index);

  OnCarve on_carve_;
  std::mutex opening_, naming_;
  std::uintptr_t nowhere_ = 0;
  std::size_t first_in_gap_ = 0, first_ordinary_ = 0;  // heaps, by their index
  RunMap free_heaps_;
  RunMap free_media_heaps_;
  RunMap free_gap_;  // between the two, for whoever wishes to be there
};

template <class Visit>
void HeapMap::for_each_block(std::uint32_t device, Visit&& visit) const {
  for (std::size_t h = 0; h < count_; ++h) {
    const Heap& heap = heaps_[h];
    const Heap::Use use = heap.use.load(std::memory_order_acquire);
    if ((use != Heap::Use::Carved && use != Heap::Use::Whole) || heap.device != device) continue;
    const std::size_t unit = use == Heap::Use::Whole ? kHeapBytes : unit_of(heap.heap_class);
    const std::size_t units = use == Heap::Use::Whole ? 1 : heap.cut.load(std::memory_order_acquire);
    for (std::size_t at = 0; at < units; ++at) {
      const std::atomic<std::uint64_t>* place = word_of(heap_start(h) + at * unit);
      const std::uint64_t word = place == nullptr ? 0 : place->load(std::memory_order_acquire);
      if (word != 0) visit(block_from(heap_start(h) + at * unit, word));
    }
  }
}

}  // namespace belay
