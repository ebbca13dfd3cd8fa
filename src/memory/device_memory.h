// The memory of one device: what it has, who holds how much, and where blocks go.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "memory/backing_store.h"
#include "memory/device_figures.h"
#include "memory/fast_rules.h"
#include "memory/heap_map.h"
#include "memory/range_pool.h"
#include "memory/thread_cache.h"

namespace belay {

// Footprint of one software module on a device (M-150, M-151).
struct ModuleUsage {
  std::uint8_t module;
  std::size_t current, peak;
};

class DeviceMemory {
 public:
  void open(std::uint32_t device, machine::PageQuota& quota, HeapMap& map, BackingStore& backing,
            std::uint64_t number);

  // `cache`: of the calling thread, or null.
  // `wished`: the address; 0: any.
  Result<std::uintptr_t> allocate(const Plan& plan, std::uint8_t module, Origin origin, ThreadCache* cache,
                                  std::uintptr_t wished = 0);
  // Already withdrawn from the map. `shared`: its pages and its range end elsewhere (physical_memory.h).
  void release(const Block& block, ThreadCache* cache, bool shared = false);

  // A block is there, all but its word; `facts`: where they are to be, if anywhere.
  void begin_block(std::uintptr_t start, std::uint64_t word, std::uint8_t module, BlockFacts* facts,
                   observe::Event::Policy policy);
  // One is there, and whoever listens, or wants to hear of it at once, did not hear of it yet; one has ended.
  void tell_begun(std::uintptr_t start, bool at_once_only);
  void tell_freed(const Block& block, bool swept = false);
  void tell_given_back(const Block& block);

  // The address range of a block that was freed is free as well.
  void return_range(std::uintptr_t start, std::size_t footprint, Page page, Origin origin = Origin::Malloc) {
    return_ranges({&start, 1}, footprint, page, origin);
  }
  void return_ranges(std::span<const std::uintptr_t> starts, std::size_t footprint, Page page,
                     Origin origin = Origin::Malloc) {
    pool_of(class_of(page, origin)).give(footprint, starts);
  }
  void set_quarantine(std::size_t bytes) {
    for (RangePool& pool : pools_) pool.set_quarantine(bytes);
  }

  // Pages for something else than a block were taken, or are not there: the books, and the reason in words.
  // `granted`: beyond those that the process had at hand.
  void note_taken(Page page, bool p2p, bool granted = true) {
    if (granted)
      open_peak();
    else if (peak_open_.load(std::memory_order_relaxed) == 0)
      return;  // so many were in use before
    note_peak(quota_kind(page, p2p), machine::PageQuota::kCommonShard);
  }
  Refusal shortage(const Plan& plan, const char* rule = "M-86") const;
  Refusal pool_is_empty(const Plan& plan, const char* rule = "M-86") const;

  // After every successful take, while the fast path state tells of peaks: the process may have more in use
  // than ever.
  void note_peak(std::size_t kind, std::size_t shard);

  machine::PageQuota& quota() { return *quota_; }
  Amounts pool() const { return pool_figures(quota_->limits(), quota_->used()); }
  Amounts figures(Page page, bool p2p) const;        // with the kernel's pool, where that is the limit
  std::vector<ModuleUsage> usage() const;            // largest first, only modules that ever held something
  std::size_t peak() const { return peak_.load(); }  // the most that this process had in use
  // Where others can read the peak; null: nowhere.
  void show_peak(std::atomic<std::size_t>* at) { shown_peak_.store(at); }

 private:
  // Of the module APP only the peak is kept: it has in use what the process has and no other module.
  struct Usage {
    std::atomic<std::size_t> current{0}, peak{0};
  };
  void count(std::uint8_t module, std::size_t bytes, std::size_t kind, std::size_t shard);
  void open_peak();
  static HeapClass class_of(Page page, Origin origin);
  // One attempt, with one kind of pages. 0 and no reason: not enough of them.
  struct Attempt {
    std::uintptr_t start = 0;
    Refusal reason;
    bool pool_empty = false;  // enough on the device, too few large pages in the kernel's pool
  };
  Attempt attempt(const Plan& plan, Page page, std::size_t footprint, std::uint8_t module, Origin origin,
                  ThreadCache* cache, std::uintptr_t wished);
  Attempt attempt(const Plan& plan, Page page, std::size_t footprint, Origin origin, ThreadCache* cache,
                  std::uintptr_t wished);
  std::uintptr_t take_range(const Plan& plan, std::size_t footprint, Page page, Origin origin,
                            ThreadCache* cache);
  std::uintptr_t fresh_range(std::size_t footprint, HeapClass heap_class, std::uint64_t key,
                             ThreadCache* cache);
  Position position_of(std::uintptr_t start) const {
    return {&backing_->plain(), start - map_->window().base};
  }
  std::uint64_t key_of(std::size_t footprint, Page page, bool p2p, bool read_only) const;
  RangePool& pool_of(HeapClass heap_class) { return pools_[static_cast<std::size_t>(heap_class)]; }

  std::uint32_t device_ = 0;
  std::uint64_t memory_ = 0;  // see fast_path_state.h
  HeapMap* map_ = nullptr;
  BackingStore* backing_ = nullptr;
  machine::PageQuota* quota_ = nullptr;
  std::array<RangePool, kHeapClasses> pools_;
  std::array<Usage, 256> usage_;
  std::atomic<std::size_t> peak_{0};
  std::atomic<std::atomic<std::size_t>*> shown_peak_{nullptr};
  std::atomic<std::size_t> of_others_{0};    // bytes that modules other than APP have in use
  std::atomic<std::uint64_t> peak_open_{0};  // not 0: raised whenever the process was granted more
  std::atomic<std::uint32_t> vain_looks_{0};
};

}  // namespace belay
