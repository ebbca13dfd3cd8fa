// Pages of pinned host memory that was freed, for the next block of the same size: locking pages takes
// microseconds for one and milliseconds for many. So many bytes at most, until nothing was freed for a
// second, somebody needs the room, or a call or task follows a pointer there: then they are gone as if they
// had never been kept, and what the pointer did is found out.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "memory/decay.h"

namespace belay {

class SparePinned {
 public:
  explicit SparePinned(std::size_t most);
  SparePinned(const SparePinned&) = delete;
  SparePinned& operator=(const SparePinned&) = delete;
  ~SparePinned() { close(); }

  // Null: there are none of that size.
  void* take(std::size_t bytes);
  // False: they are not kept.
  bool keep(void* start, std::size_t bytes);
  bool give_all_back();  // false: there was nothing
  void close();

  // Pages that were kept and that somebody follows a pointer to (following.h) are gone when this returns. The
  // first costs no more than two loads: most programs have none, and most pointers are elsewhere.
  static void end_at(std::uintptr_t address, std::size_t bytes) {
    if (address < g_to.load(std::memory_order_relaxed) &&
        address + bytes > g_from.load(std::memory_order_relaxed)) [[unlikely]]
      end_around(address, bytes);
  }
  // In a forked child, whose parent's they are.
  static void forget();

 private:
  static constexpr std::size_t kPlaces = 128;
  struct Pages {
    std::uintptr_t start;
    std::size_t bytes;
  };
  static void end_around(std::uintptr_t address, std::size_t bytes);
  Pages remove(std::size_t at);  // with the lock held
  void show() const;

  const std::size_t most_;
  std::mutex mutex_;  // nothing else is locked while this is
  std::array<Pages, kPlaces> kept_;
  std::size_t count_ = 0, bytes_ = 0;
  Decay decay_;

  // Around all that is kept; no address lies in it where nothing is.
  static std::atomic<std::uintptr_t> g_from, g_to;
  static std::atomic<SparePinned*> g_current;
};

}  // namespace belay
