// What a thread keeps at hand, so that a warm pair of allocate and free takes no lock: address ranges that it
// gave back, on shelves by size, and a shard of its own in the machine's books.
//
// Addresses cost nothing, so keeping some per thread costs nothing either. Pages are not kept: what is on a
// shelf is free in the books, and anybody's.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "machine/page_quota.h"
#include "memory/heap_map.h"
#include "memory/warm_rules.h"
#include "memory/warm_state.h"

namespace belay {

class Memory;

// What the ranges on a shelf are good for: blocks with this word, but for what was asked for, and of this
// device. Only ordinary blocks of aclrtMalloc, on pages of 4 KB and 2 MB, have shelves.
struct ShelfKey {
  static constexpr unsigned kShift = 64 - BlockWord::kSlackShift;
  static constexpr std::uint64_t of(std::uint64_t word, std::uint64_t device) {
    return word << kShift | device;
  }
  static constexpr std::uint64_t word(std::uint64_t key) { return key >> kShift; }
  static constexpr BlockWord block(std::uint64_t key) { return BlockWord::unpack(word(key)); }
  static constexpr std::uint32_t device(std::uint64_t key) {
    return static_cast<std::uint32_t>(key & ((1U << kShift) - 1));
  }
};

// An address range without a block.
struct Range {
  std::uintptr_t start;
  std::uintptr_t word;  // where its block's word is, and below that what there is to know about its contents:
  static constexpr std::uintptr_t kWritten = 1;  // its last block has ended (backing_store.h)
  static constexpr std::uintptr_t kKept = 2;     // this thread keeps them as they are
  static constexpr std::uintptr_t kNotPlain = kWritten | kKept;
};

// One cache line; the ranges themselves are elsewhere.
struct alignas(64) Shelf {
  std::uint64_t key = 0;
  std::atomic<std::uint64_t>* account = nullptr;  // where its pages are booked
  std::uint64_t pages = 0, step = 0;              // and what they are there (machine/state.h)
  Range* top = nullptr;                           // above the newest
  Range* bottom = nullptr;
  Range* limit = nullptr;

  bool empty() const { return top == bottom; }
  bool full() const { return top == limit; }
};

class ThreadCache {
 public:
  // This thread's, made or made anew for that memory; null where a thread can have none (any more).
  static ThreadCache* ready_for(Memory& memory);
  // The thread has another context, or none.
  static void forget_context();

  // What this thread knows holds in this era; the second also for the device that its requests go to.
  std::uint64_t era() const { return era_; }
  std::uint64_t context_era() const { return context_era_; }
  // The thread's context was alive in that era, and is on that device.
  void renew(std::uint64_t era, std::uint32_t device);

  const WarmRules& rules() const { return *rules_; }
  const Home& home(Api api) const { return homes_[static_cast<std::size_t>(api)]; }
  // The shelf for HUGE_FIRST on the device of the thread's context, and for any block; null if there is none.
  Shelf* route(std::size_t route) const { return routes_[route]; }
  Shelf* find_word(std::uint64_t word) { return find(ShelfKey::of(word, device_)); }
  // Where a key's shelf is if it is in its first place, and wherever it is.
  Shelf& shelf_at(std::uint64_t key) { return shelves_[key * kMix >> 57]; }
  Shelf* find(std::uint64_t key) {
    Shelf& first = shelf_at(key);
    if (first.key == key) return &first;
    Shelf& second = neighbour(first);
    return second.key == key ? &second : nullptr;
  }
  // The shelf for that key, emptied of another's ranges if need be; null if such ranges are not kept.
  Shelf* make(std::uint64_t key);
  // Puts a range on its shelf; false if there is no room for it.
  bool keep(std::uint64_t key, std::uintptr_t start);
  // Takes the newest one, whose last block has ended in every respect; 0 if there is none.
  std::uintptr_t take(std::uint64_t key);
  void give_all_back();
  // Room for the contents of a block that are kept with its range.
  bool keep_contents(std::size_t bytes) {
    if (bytes > most_kept_ - kept_) return false;
    kept_ += bytes;
    return true;
  }
  void use_contents(std::size_t bytes) { kept_ -= bytes; }

  Memory& memory() const { return *memory_; }
  bool may_hold(std::uintptr_t address) const { return address - base_ < bytes_; }
  const Heap& heap_at(std::uintptr_t address) const { return heaps_[(address - base_) / kHeapBytes]; }
  std::size_t shard() const { return shard_; }
  bool owns_shard() const { return shard_ != machine::PageQuota::kCommonShard; }

 private:
  friend struct CacheKeeper;
  ThreadCache() = default;
  static constexpr std::size_t kShelves = 128;
  static constexpr std::size_t kDepth = 256;
  void settle(Memory& memory);
  void leave();
  void clear(Shelf& shelf);
  void make_room(Shelf& shelf);  // by giving the older half back
  void forget(Shelf& shelf);
  std::size_t route_to(const Shelf& shelf) const;
  std::uintptr_t take_from(Shelf& shelf);
  std::uintptr_t end_contents(const Shelf& shelf, const Range& range);

  static constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15U;
  // A size has two shelves to choose from, so that two sizes used in turn do not push each other out.
  Shelf& neighbour(const Shelf& shelf) {
    return shelves_[static_cast<std::size_t>(&shelf - shelves_.data()) ^ 1U];
  }

  std::uint64_t era_ = WarmState::kNever, context_era_ = WarmState::kNever;
  std::uintptr_t base_ = 0;  // of the device addresses; these three are in the map, too, but one step further
  std::size_t bytes_ = 0;
  const Heap* heaps_ = nullptr;
  std::size_t shard_ = machine::PageQuota::kCommonShard;
  const WarmRules* rules_ = nullptr;
  Memory* memory_ = nullptr;
  std::uint64_t memory_number_ = 0;
  std::uint32_t device_ = 0;
  std::size_t kept_ = 0, most_kept_ = 0;            // bytes of contents
  std::size_t addresses_ = 0, most_addresses_ = 0;  // that full shelves would hold
  std::array<Home, 3> homes_{};
  std::array<Shelf*, Routes::kCount> routes_{};
  std::array<Shelf, kShelves> shelves_{};
  std::array<std::array<Range, kDepth>, kShelves>
      ranges_;  // not initialised: pages that nobody needs are not touched
};

// One pointer, reached without a call: the library is small enough for the loader's static block. Threads
// that have no cache share one that never serves.
extern constinit thread_local ThreadCache* t_cache __attribute__((tls_model("initial-exec")));

}  // namespace belay
