// What a thread keeps at hand, so that a fast pair of allocate and free takes no lock: address ranges that it
// gave back, in bins by size, and a shard of its own in the machine's page quota.
//
// Addresses cost nothing, so keeping some per thread costs nothing either. Pages are not kept: what is in a
// bin is free in the quota, and anybody's.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "machine/page_quota.h"
#include "memory/fast_path_state.h"
#include "memory/fast_rules.h"
#include "memory/heap_map.h"

namespace belay {

class Memory;

// What the ranges in a bin are good for: blocks with this word, but for what was asked for, and of this
// device.
struct BinKey {
  static constexpr unsigned kShift = 64 - BlockWord::kSlackShift;
  static constexpr std::uint64_t of(std::uint64_t word, std::uint64_t device) {
    return BlockWord::without_slack(word) << kShift | device;
  }
  // The same for a block on pages of 4 KB or 2 MB; of one on 1 GB pages, no key that there is.
  static constexpr std::uint64_t of_small(std::uint64_t word, std::uint64_t device) {
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

// One cache line; the ranges themselves are elsewhere. All null: nobody's.
struct alignas(64) Bin {
  std::uint64_t key;
  std::atomic<std::uint64_t>* account;  // that its pages are taken from
  std::uint64_t pages, step;            // and what they are there (machine/state.h)
  Range* top;                           // above the newest
  Range* bottom;
  Range* limit;
  std::uint64_t told;  // how events of its blocks begin (observe/event.h), but for what happened

  bool empty() const { return top == bottom; }
  bool full() const { return top == limit; }
};

class ThreadCache {
 public:
  // This thread's, made or made anew for that memory; null where a thread can have none (any more).
  static ThreadCache* ready_for(Memory& memory);
  // Requests of this thread go to no device that we know of.
  static void forget_device();

  // What this thread knows holds in this epoch; the second also for the device that its requests go to.
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t device_epoch() const { return device_epoch_; }
  // In that epoch the thread's requests go to that device.
  void set_device(std::uint64_t epoch, std::uint32_t device);

  std::uint32_t device() const { return device_; }
  const FastRules& rules() const { return rules_; }
  // The bin of a size class, on the device that the thread's requests go to; null if there is none.
  Bin* of_class(std::size_t size_class) const { return classes_[size_class]; }
  // The bin of any block; null if there is none.
  Bin* find(std::uint64_t key) {
    const std::size_t first = place_of(key);
    for (std::size_t each = 0; each < kChoices; ++each) {
      if (Bin& bin = bins_[first ^ each]; bin.key == key) return &bin;
    }
    return nullptr;
  }
  // The bin for that key, emptied of another's ranges if need be; null if such ranges are not kept.
  Bin* make(std::uint64_t key);
  // Puts a range into its bin; false if there is no room for it.
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
  // A size has some bins to choose from, so that sizes used in turn do not push each other out.
  static constexpr std::size_t kBins = 1024, kChoices = 4;
  // How many ranges a bin holds: few at first, and twice as many whenever more come back, up to the second.
  static constexpr std::size_t kFew = 4, kDepth = 256;
  void settle(Memory& memory);
  void leave();
  void give_back(Bin& bin, std::size_t oldest);  // so many of them
  void make_room(Bin& bin);                      // by making it deeper, or giving the older half back
  bool deepen(Bin& bin);
  void forget(Bin& bin);
  void enter_class(Bin& bin, bool there);  // where its size has a class
  std::uintptr_t take_from(Bin& bin);
  std::uintptr_t end_contents(const Bin& bin, const Range& range);

  static constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15U;
  static std::size_t place_of(std::uint64_t key) { return key * kMix >> (64 - std::countr_zero(kBins)); }
  std::size_t number_of(const Bin& bin) const { return static_cast<std::size_t>(&bin - bins_.data()); }
  template <class Act>
  void for_each_bin(Act&& act);  // that is somebody's

  // A processor takes a load for that of a store just before it, at first, if both lie as far into their
  // pages. Words of blocks begin with a page, as this does: what is read right after the first was stored
  // lies further on. Free is 3 % faster for it.
  [[maybe_unused]] std::array<std::byte, 576> unused_{};
  std::uint64_t epoch_ = FastPathState::kNever, device_epoch_ = FastPathState::kNever;
  std::uintptr_t base_ = 0;  // of the device addresses; these three are in the map, too, but one step further
  std::size_t bytes_ = 0;
  const Heap* heaps_ = nullptr;
  std::size_t shard_ = machine::PageQuota::kCommonShard;
  Memory* memory_ = nullptr;
  std::uint64_t memory_number_ = 0;
  std::uint32_t device_ = 0;
  std::size_t kept_ = 0, most_kept_ = 0;            // bytes of contents
  std::size_t addresses_ = 0, most_addresses_ = 0;  // that full bins would hold
  FastRules rules_;                                 // of the memory, at hand
  // Not initialised: all that is here is memory of the kernel's own, so null, and pages that nobody needs are
  // not touched.
  std::array<std::uint64_t, kBins / 64> used_;  // which bins are somebody's
  std::array<Bin*, SizeClass::kCount> classes_;
  std::array<Bin, kBins> bins_;
  std::array<std::array<Range, kFew>, kBins> few_ranges_;
  std::array<std::array<Range, kDepth>, kBins> ranges_;
};

// One pointer, reached without a call: the library is small enough for the loader's static block. Threads
// that have no cache share one that never serves.
extern constinit thread_local ThreadCache* t_cache __attribute__((tls_model("initial-exec")));

}  // namespace belay
