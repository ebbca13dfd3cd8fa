// Where the next block of a device goes: address ranges of one heap class.
//
// Ranges that a thread gives back are kept by that thread for its next request of the same size, so
// that a warm pair of allocate and free takes no lock. Behind the threads stands one best-fit map of
// free runs under a mutex. Addresses cost nothing, so keeping some per thread costs nothing either.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "memory/heap_map.h"
#include "memory/run_map.h"

namespace belay {

// Blocks larger than this get heaps of their own.
inline constexpr std::size_t kLargestCarved = 512_MiB;

class RangePool {
 public:
  void open(HeapMap& map, HeapClass heap_class, std::uint32_t device);

  std::uintptr_t take(std::size_t bytes);  // 0: the address window is used up
  void give(std::uintptr_t start, std::size_t bytes);

  // In a forked child: what the parent's threads kept belongs to the parent.
  static void forget_thread_ranges();

 private:
  friend class ThreadRanges;
  std::uintptr_t take_shared(std::size_t bytes);
  void give_shared(std::uintptr_t start, std::size_t bytes);

  HeapMap* map_ = nullptr;
  HeapClass class_ = HeapClass::Normal;
  std::uint32_t device_ = 0;
  std::mutex mutex_;
  RunMap runs_{kHeapBytes};  // a block must not cross into another heap's index
};

}  // namespace belay
