// Ranges of addresses that lead to physical memory, in units of 2 MB.
//
// A reservation is a range that nothing else uses: of the device window, or beyond it. A mapping makes a part
// of one lead to a part of an extent. Copies find it by a few loads (mapping_table.h) and hold on to it with
// a guard (reader_guard.h), so it goes only when nobody is in the middle of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "memory/extent.h"
#include "memory/heap_map.h"
#include "memory/mapping_table.h"
#include "memory/quarantine.h"
#include "memory/shared_heaps.h"

namespace belay {

namespace machine {
struct Share;
}
struct Physical;
struct Reservation;

struct Mapping {
  std::uintptr_t start;
  std::size_t bytes;
  ExtentPtr extent;
  std::size_t offset;  // in the extent
  std::size_t asked;   // of these bytes: the rest fills up the last page (V-119)
  bool writable;
  std::uint64_t serial;
  Reservation* inside = nullptr;
  Physical* physical = nullptr;  // what the program has of the extent (virtual_memory.h); null: of a key
  const machine::Share* lease = nullptr;  // of a key: when it ends, nobody may use these bytes here any more
  std::size_t keys = 0;                   // of this process that lead here (sharing.h)
  // Who may use it: the device or host that its memory is on, others besides. It only ever becomes more.
  mutable std::atomic<bool> owner{true}, host{false};
  mutable std::atomic<std::uint64_t> devices{0};  // of the machine, a bit each
  mutable std::atomic<bool> shown{false};         // the kernel maps it for host code
  std::size_t place = 0;                          // in the list of all

  Position position_of(std::uintptr_t address) const { return extent->start + (offset + (address - start)); }
};

// Of whom a reservation is once something was mapped in it (V-148).
inline constexpr std::int32_t kUnbound = -1, kBoundToHost = -2;

struct Reservation {
  std::uintptr_t start;
  std::size_t bytes;  // may be mapped
  std::size_t asked;
  bool outside;  // of the device window
  std::uint64_t serial;
  std::int32_t bound = kUnbound;  // or a device
  std::size_t mappings = 0;
  bool was_mapped = false;  // ever
  bool of_key = false;      // the program did not make it, but imported a key
};

class Mappings {
 public:
  explicit Mappings(HeapMap& map) : map_{map}, table_{map.window()} {}

  // Whoever has the lock may look at reservations and mappings for longer than one call.
  using Lock = std::unique_lock<std::mutex>;
  Lock lock() const { return Lock{mutex_}; }
  Lock try_lock() const { return Lock{mutex_, std::try_to_lock}; }

  // Addresses without memory, at the wished place if that is not 0. Null: there is no room for them.
  Reservation* reserve(std::size_t bytes, std::uintptr_t wished, const Lock& held);
  // The same beyond the device window.
  Reservation* reserve_outside(std::size_t bytes, std::uintptr_t wished, const Lock& held);
  void release(const Reservation& reservation, const Lock& held);
  Reservation* around(std::uintptr_t address, const Lock& held);

  // So that one more can be mapped without asking for memory of the host.
  void make_room(const Lock& held);
  // Whole units that are inside a reservation, with nothing mapped there.
  Mapping& map(std::unique_ptr<Mapping> mapping, const Lock& held);
  // Takes it away: nobody finds it any more. Those who did may use it until `wait_for_readers`.
  std::unique_ptr<Mapping> take(Mapping& mapping, const Lock& held);
  // The mapping that starts exactly here, or around an address; null: none.
  Mapping* starting_at(std::uintptr_t start, const Lock& held) const;
  Mapping* containing(std::uintptr_t address, const Lock& held) const;
  const Mapping* anything_in(std::uintptr_t start, std::size_t bytes, const Lock&) const {
    return table_.anything_in(start, bytes);
  }
  const std::vector<Mapping*>& all(const Lock&) const { return all_; }
  const std::map<std::uintptr_t, Reservation>& reservations(const Lock&) const { return reservations_; }

  // One step each, with the lock. 0 and false: not possible.
  std::uintptr_t reserve(std::size_t bytes, std::uintptr_t wished);
  bool release(std::uintptr_t start);
  bool map(std::uintptr_t start, std::size_t bytes, ExtentPtr extent, std::size_t offset, bool writable);
  // What was mapped exactly from here on; empty: nothing. When it returns, nobody uses it any more.
  ExtentPtr unmap(std::uintptr_t start);

  // Without the lock. An address where mappings may be, though it is not in the device window.
  bool covers(std::uintptr_t address) const { return table_.covers(address); }
  bool touches(std::uintptr_t start, std::size_t bytes) const { return table_.touches(start, bytes); }
  // For whoever is inside a ReaderGuard.
  const Mapping* at(std::uintptr_t address) const {
    const Mapping* found = table_.at(address);
    return found != nullptr && address - found->start < found->bytes ? found : nullptr;
  }

  // How many bytes of addresses stay out of use after their reservations were released; 0: none.
  void set_quarantine(std::size_t bytes);

  void close();  // gives back what lies outside of the window

 private:
  std::uintptr_t take_addresses(std::size_t bytes, std::uintptr_t wished);
  std::uintptr_t try_take(std::size_t bytes, std::uintptr_t wished);
  void reuse(std::uintptr_t start, std::size_t bytes);
  std::uintptr_t take_in_shared_heap(std::size_t bytes, std::uintptr_t wished);

  HeapMap& map_;
  MappingTable table_;
  mutable std::mutex mutex_;
  SharedHeaps shared_heaps_;
  Quarantine quarantine_;
  std::map<std::uintptr_t, Reservation> reservations_;
  std::map<std::uintptr_t, platform::AddressRange> outside_;
  std::vector<Mapping*> all_;
};

}  // namespace belay
