// Where the next block of a device goes: address ranges of one heap class, best fit, under a mutex. Threads
// keep some of what they give back (thread_cache.h) and come here for more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "memory/heap_map.h"
#include "memory/run_map.h"

namespace belay {

// Blocks larger than this get heaps of their own.
inline constexpr std::size_t kLargestCarved = 512_MiB;

class RangePool {
 public:
  void open(HeapMap& map, HeapClass heap_class, std::uint32_t device);

  // Up to so many ranges for blocks of that many bytes: in a row if there is such a run, else from wherever
  // there is one, else from a fresh heap. How many: 0 where the address window is used up.
  std::size_t take(std::size_t bytes, std::span<std::uintptr_t> ranges);
  std::uintptr_t take(std::size_t bytes) {
    std::uintptr_t one = 0;
    return take(bytes, {&one, 1}) == 0 ? 0 : one;
  }
  void give(std::uintptr_t start, std::size_t bytes);

 private:
  HeapMap* map_ = nullptr;
  HeapClass class_ = HeapClass::Normal;
  std::uint32_t device_ = 0;
  std::mutex mutex_;
  RunMap runs_{kHeapBytes};  // a block must not cross into another heap's index
};

}  // namespace belay
