// Where the next block of a device goes: address ranges of one heap class, best fit, under a mutex. Threads
// keep some of what they give back (thread_cache.h) and come here for more.
//
// What comes back is used again at once, or, while a quarantine is wanted, when that many bytes of addresses
// came back after it. It is kept by size (shelves.h) and joined with its neighbours before a fresh heap is
// opened.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

#include "memory/heap_map.h"
#include "memory/quarantine.h"
#include "memory/run_map.h"
#include "memory/shelves.h"

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
  // Exactly these addresses; false where they are taken, or are not for blocks of this class.
  bool take_at(std::uintptr_t start, std::size_t bytes);
  void give(std::size_t bytes, std::span<const std::uintptr_t> starts);
  void give(std::uintptr_t start, std::size_t bytes) { give(bytes, {&start, 1}); }

  // How many bytes of addresses stay out of use after they came back; 0: none.
  void set_quarantine(std::size_t bytes);

 private:
  static bool stands_alone(std::size_t bytes) { return bytes > kLargestCarved; }
  void reuse(std::size_t bytes, std::span<const std::uintptr_t> starts);
  bool join();  // false: there was nothing to join
  std::size_t try_take(std::size_t bytes, std::span<std::uintptr_t> ranges);

  HeapMap* map_ = nullptr;
  HeapClass class_ = HeapClass::Normal;
  std::uint32_t device_ = 0;
  std::mutex mutex_;
  RunMap runs_{kHeapBytes};  // a block must not cross into another heap's index
  Shelves shelves_;
  Quarantine quarantine_;
};

}  // namespace belay
