// The memory of one device: what it has, who holds how much, and where blocks go.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "memory/books.h"
#include "memory/contents.h"
#include "memory/heap_map.h"
#include "memory/range_pool.h"

namespace belay {

inline constexpr std::uint8_t kModuleRuntime = 7;
inline constexpr std::uint8_t kModuleApp = 33;

// Footprint of one software module on a device (M-150, M-151).
struct ModuleUsage {
  std::uint8_t module;
  std::size_t current, peak;
};

class DeviceMemory {
 public:
  void open(std::uint32_t device, machine::Ledger& ledger, HeapMap& map, Contents& contents);

  Result<std::uintptr_t> allocate(const Plan& plan, std::uint8_t module, Origin origin);
  void release(const Block& block);  // already withdrawn from the map

  const Books& books() const { return books_; }
  Amounts figures(Page page, bool p2p) const;  // with the kernel's pool, where that is the limit
  std::vector<ModuleUsage> usage() const;      // largest first, only modules that ever held something

 private:
  struct Usage {
    std::atomic<std::size_t> current{0}, peak{0};
  };
  static bool stands_alone(std::size_t footprint, Page page) {
    return page == Page::Huge1G || footprint > kLargestCarved;
  }
  static HeapClass class_of(Page page, Origin origin);
  Refusal shortage(const Plan& plan) const;
  Refusal pool_is_empty(const Plan& plan) const;
  // One attempt, with one kind of pages. 0 and no reason: not enough of them.
  struct Attempt {
    std::uintptr_t start = 0;
    Refusal reason;
    bool pool_empty = false;  // enough on the device, too few large pages in the kernel's pool
  };
  Attempt attempt(const Plan& plan, Page page, std::size_t footprint, HeapClass heap_class);

  std::uint32_t device_ = 0;
  HeapMap* map_ = nullptr;
  Contents* contents_ = nullptr;
  Books books_;
  std::array<RangePool, kHeapClasses> pools_;
  std::array<Usage, 256> usage_;
};

}  // namespace belay
