// From an address to the mapping around it, by a few loads, however many there are.
//
// One word for every 2 MB of the device window, in a table of which only the parts in use cost memory; a
// table of its own for each range outside of it (V-89). Readers take no lock; they hold on to what they find
// with a guard (reader_guard.h). Whether an address is in such a range may be asked without one, also in a
// signal handler.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/size.h"
#include "platform/address_space.h"
#include "platform/sparse_memory.h"

namespace belay {

inline constexpr std::size_t kMappingUnit = 2_MiB;
struct Mapping;

class MappingTable {
 public:
  explicit MappingTable(const platform::AddressRange& window) : window_{window} {}

  // These three one at a time. There is a table for the window from now on; false: no address space for it.
  bool open();
  // The same for addresses outside of the window, until they are removed; false also: there are too many.
  bool add(std::uintptr_t start, std::size_t bytes);
  void remove(std::uintptr_t start);

  // Whether an address outside of the window is in a range that was added, or some of these bytes.
  bool covers(std::uintptr_t address) const { return range_around(address) != nullptr; }
  bool touches(std::uintptr_t start, std::size_t bytes) const;
  // For whoever is inside a ReaderGuard; null: nothing is mapped there.
  const Mapping* at(std::uintptr_t address) const {
    const Word* word = word_of(address);
    return word == nullptr ? nullptr : word->load(std::memory_order_acquire);
  }
  // All of a range that has a table.
  void publish(std::uintptr_t start, std::size_t bytes, const Mapping* mapping);
  // The first mapping there; null: none.
  const Mapping* anything_in(std::uintptr_t start, std::size_t bytes) const;

 private:
  using Word = std::atomic<const Mapping*>;
  // Places that are used again and never go, so that nobody who looks at one needs a guard. A start of 0: it
  // is free, which is the first to be seen of a range that is removed and the last of one that is added.
  struct Range {
    std::atomic<std::uintptr_t> start{0};
    std::atomic<std::size_t> bytes{0};
    std::atomic<Word*> words{nullptr};
    platform::SparseMemory table;
  };
  static constexpr std::size_t kMostRanges = 256;
  const Range* range_around(std::uintptr_t address) const;
  Word* word_of(std::uintptr_t address) const;

  platform::AddressRange window_;
  platform::SparseMemory memory_;
  std::atomic<Word*> words_{nullptr};
  std::array<Range, kMostRanges> ranges_;
  std::atomic<std::size_t> used_{0};  // places from here on were never used
};

}  // namespace belay
