// From an address to the mapping around it, by a few loads, however many there are.
//
// One word for every 2 MB of the device window, in a table of which only the parts in use cost memory; a
// table of its own for each range outside of it (V-89). Readers take no lock; they hold on to what they find
// with a guard (reader_guard.h).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

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
  // The same for addresses outside of the window, until they are removed.
  bool add(std::uintptr_t start, std::size_t bytes);
  void remove(std::uintptr_t start);

  // Whether an address outside of the window is in a range that was added.
  bool covers(std::uintptr_t address) const {
    const Ranges* added = added_.load(std::memory_order_acquire);
    return added != nullptr && table_of(*added, address) != nullptr;
  }
  // For whoever is inside a ReaderGuard; null: nothing is mapped there.
  const Mapping* at(std::uintptr_t address) const {
    const Word* word = word_of(address);
    return word == nullptr ? nullptr : word->load(std::memory_order_acquire);
  }
  // All of a range that has a table.
  void publish(std::uintptr_t start, std::size_t bytes, const Mapping* mapping);
  bool anything_in(std::uintptr_t start, std::size_t bytes) const;

 private:
  using Word = std::atomic<const Mapping*>;
  struct Range {
    std::uintptr_t start;
    std::size_t bytes;
    std::shared_ptr<platform::SparseMemory> table;
  };
  using Ranges = std::vector<Range>;  // never changed, only replaced
  static Word* table_of(const Ranges& ranges, std::uintptr_t address);
  Word* word_of(std::uintptr_t address) const;
  void replace(std::unique_ptr<Ranges> ranges);

  platform::AddressRange window_;
  platform::SparseMemory memory_;
  std::atomic<Word*> words_{nullptr};
  std::unique_ptr<Ranges> owned_;
  std::atomic<const Ranges*> added_{nullptr};
};

}  // namespace belay
