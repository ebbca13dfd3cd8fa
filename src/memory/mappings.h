// Ranges of addresses that lead to physical memory, in units of 2 MB.
//
// A reservation is heaps of the device window without blocks (heap_map.h). A mapping makes a part of one lead
// to a part of an extent. Copies find it by a few loads and hold on to it with a guard (reader_guard.h), so
// it goes only when nobody is in the middle of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "memory/extent.h"
#include "memory/heap_map.h"

namespace belay {

struct Mapping {
  std::uintptr_t start;
  std::size_t bytes;
  ExtentPtr extent;
  std::size_t offset;  // in the extent
  bool writable;
  std::uint64_t serial;

  Position position_of(std::uintptr_t address) const { return extent->start + (offset + (address - start)); }
};

class Mappings {
 public:
  explicit Mappings(HeapMap& map) : map_{map} {}

  // Addresses without memory, at the wished place if that is not 0. 0: there is no room for them.
  std::uintptr_t reserve(std::size_t bytes, std::uintptr_t wished);
  // False: no reservation starts here, or something is mapped in it.
  bool release(std::uintptr_t start);

  // False: outside every reservation, or something is mapped there. All whole units.
  bool map(std::uintptr_t start, std::size_t bytes, ExtentPtr extent, std::size_t offset, bool writable);
  // What was mapped exactly from here on; empty: nothing. When it returns, nobody uses it any more.
  ExtentPtr unmap(std::uintptr_t start);

 private:
  using Reservations = std::map<std::uintptr_t, std::size_t>;
  Reservations::const_iterator around(std::uintptr_t address) const;
  bool anything_in(std::uintptr_t start, std::size_t bytes) const;

  HeapMap& map_;
  mutable std::mutex mutex_;
  Reservations reservations_;
  std::map<std::uintptr_t, std::unique_ptr<Mapping>> mappings_;
};

}  // namespace belay
