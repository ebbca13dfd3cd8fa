// Addresses in steps of 2 MB, out of heaps of 1 GB that several small reservations share (D-89). Not
// thread-safe.
//
// A request gets a run that starts at a multiple of the next power of two of its length, as the driver wants
// it of a wished address (V-77).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "base/size.h"

namespace belay {

class SharedHeaps {
 public:
  static constexpr std::size_t kHeap = 1_GiB, kUnit = 2_MiB;
  static constexpr std::size_t kMost = 512_MiB;  // larger requests have heaps of their own

  void add(std::uintptr_t heap);  // nothing of it is taken
  bool has(std::uintptr_t address) const { return heaps_.contains(round_down(address, kHeap)); }

  std::optional<std::uintptr_t> take(std::size_t bytes);
  // Exactly there; false: some of it is taken, or in no heap of ours.
  bool take_at(std::uintptr_t start, std::size_t bytes);
  void give(std::uintptr_t start, std::size_t bytes);

  // A heap of which nothing is taken, for which there is no more use here; at least so many such heaps stay.
  std::optional<std::uintptr_t> drop_empty(std::size_t but);

 private:
  static constexpr std::size_t kUnits = kHeap / kUnit;
  static constexpr unsigned kOrders = 10;  // runs of 1, 2, 4 … 512 units
  struct Heap {
    std::array<std::uint64_t, kUnits / 64> taken{};
    unsigned largest = kOrders;  // runs of that order and all below are there; kOrders: see above
  };
  using Entry = std::map<std::uintptr_t, Heap>::value_type;
  static std::optional<std::size_t> find(const Heap& heap, unsigned order);
  static void mark(Heap& heap, std::size_t first, std::size_t units, bool taken);
  void file(Entry& entry);  // where it belongs by what it has left

  std::map<std::uintptr_t, Heap> heaps_;
  // By the largest run that a heap has: index 0 has none, index n has a run of order n - 1.
  std::array<std::set<std::uintptr_t>, kOrders + 1> by_room_;
};

}  // namespace belay
