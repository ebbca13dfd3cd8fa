// Reservations, physical memory and mappings as programs hold them: what may be done with each, in which
// order, and for how long it lives (V-28 … V-37, V-66 … V-214).
//
// Below it, mappings.h knows addresses and physical_memory.h pages. All that happens here is under the lock
// of the mappings, so that every call is one step to the others (V-19); copies never take it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "memory/host_memory.h"
#include "memory/host_room.h"
#include "memory/mappings.h"
#include "memory/physical_memory.h"
#include "memory/physical_plan.h"
#include "memory/virtual_figures.h"
#include "memory/watch.h"
#include "observe/event.h"

namespace belay {

// Physical memory, by the program's handle. It lives as long as a reference or a mapping does.
struct Physical {
  std::uint64_t handle;
  PhysicalPlan plan;
  ExtentPtr extent;
  std::size_t references = 1, mappings = 0;
  const char* made_by = "";  // a function
  machine::ShareId exported = 0;
  machine::ShareId imported = 0;  // of which share it came: the plan says what and where that is
};

// Who a mapping is for: the host, or a device by its number on the machine (V-26).
struct Grantee {
  bool host;
  std::uint32_t device;
};

class VirtualMemory {
 public:
  struct Parts {
    HeapMap& map;
    BackingStore& backing;
    PhysicalMemory& physical;
    Mappings& mappings;
    HostRoom& room;
    HostMemory& host;
    machine::Machine& machine;
    Watch& watch;
    PinMode pin;
    const ProductRow* product;
    std::vector<std::uint32_t> visible;  // device of this process -> device of the machine
  };
  explicit VirtualMemory(Parts parts) : parts_{std::move(parts)}, figures_{parts_.machine, parts_.visible} {}

  // Addresses: anywhere, at a wished place in the device window, or at one beyond it.
  Result<std::uintptr_t> reserve(std::size_t bytes, std::uintptr_t wished);
  Result<std::uintptr_t> reserve_high(std::size_t bytes, std::uintptr_t wished);
  Status release(std::uintptr_t start);

  // Memory, under a handle that nothing had before.
  enum class Taken : std::uint8_t {
    Short,
    Again,
    More
  };  // too little; of pages that were at hand; of others
  Result<Taken> allocate(std::uint64_t handle, const PhysicalPlan& plan);
  Status free(std::uint64_t handle);
  std::optional<PhysicalPlan> plan_of(std::uint64_t handle) const;
  bool is_imported(std::uint64_t handle) const;
  bool lives(std::uint64_t handle) const { return plan_of(handle).has_value(); }

  struct MapWish {
    std::uintptr_t start;
    std::size_t bytes;
    std::uint64_t handle;
    bool accessible;
  };
  Status map(const MapWish& wish);
  Status unmap(std::uintptr_t start);
  // All that is mapped from there on, once more from here on (V-210).
  Status map_again(std::uintptr_t start, std::size_t bytes, std::uintptr_t from);

  Status check_mapping(std::uintptr_t start, std::size_t bytes) const;  // V-174
  Status grant(std::uintptr_t start, const Grantee& to);
  Result<bool> is_granted(std::uintptr_t address, const Grantee& to) const;
  Result<std::uint64_t> retain(std::uintptr_t start);

  // --- with other processes (virtual_sharing.cpp) ---

  // What others import it by (V-219 … V-228).
  Result<machine::Secret> share(std::uint64_t handle, machine::ShareKind kind, bool checking);
  // The memory of a share, for a device of this process, under a handle that nothing had before or the one
  // that it has already (V-31, V-248 … V-256).
  Result<std::uint64_t> import(const machine::Share& share, std::uint32_t device, std::uint64_t handle);

  // A part of memory that a key leads to.
  struct KeyPart {
    machine::ExtentName name;
    std::size_t offset, bytes;
    Page page;
  };
  // All of a mapped range, which stays mapped from now on as long as it is pinned (V-387 … V-394).
  Result<std::vector<KeyPart>> pin_for_key(std::uintptr_t start, std::size_t bytes);
  void unpin_for_key(std::uintptr_t start, std::size_t bytes);
  // Addresses that lead to what was imported by key, until its share ends.
  struct Borrowed {
    ExtentPtr extent;
    std::size_t offset, bytes;
  };
  Result<std::uintptr_t> map_borrowed(const std::vector<Borrowed>& parts, const machine::Share& lease);
  void unmap_borrowed(std::uintptr_t start);
  // Why memory that is mapped there cannot be used any more: its share has ended. Empty: it can.
  std::optional<std::string> revoked(std::uintptr_t address) const;

  bool is_reserved(std::uintptr_t address) const { return bound_at(address).has_value(); }
  // Whose its reservation is (V-148); empty: it is in none.
  std::optional<std::int32_t> bound_at(std::uintptr_t address) const;
  // Whether its reservation is one beyond the device window (V-348).
  bool is_outside(std::uintptr_t address) const;
  // Whether host code may read and write here.
  bool is_shown_to_host(std::uintptr_t address) const;
  // What there is at an address of a reservation, in words; empty: it is in none.
  std::optional<std::string> describe(std::uintptr_t address) const;
  struct Seen {
    std::uintptr_t start;
    std::size_t bytes;           // of the reservation
    const Mapping* mapping;      // there; to be looked at only while the lock is held
    std::uintptr_t ended_start;  // of what was mapped there last; 0: nothing is known
    std::size_t ended_bytes;
    const char* ended_by;
  };
  // The same for signal handlers, which must not wait. False: it is in none, or somebody changes them just
  // now.
  template <class Act>
  bool peek(std::uintptr_t address, Act&& act) const {
    const Mappings::Lock held = parts_.mappings.try_lock();
    if (!held) return false;
    const std::optional<Seen> seen = look(address, held);
    if (seen) act(*seen);
    return seen.has_value();
  }

  // Where others read the most at once; null: nobody does any more.
  void show_most(const VirtualFigures::Shown& at) { figures_.show_most(at); }

  // Ends what is on a device: its memory, and whatever is mapped of it (V-42).
  void close_device(std::uint32_t device);
  void close();

  template <class Act>
  void for_each_physical(Act&& act) const {
    const Mappings::Lock held = parts_.mappings.lock();
    for (const auto& [handle, physical] : physicals_) {
      if (physical.imported == 0) act(physical);
    }
  }
  template <class Act>
  void for_each_imported(Act&& act) const {
    const Mappings::Lock held = parts_.mappings.lock();
    for (const auto& [handle, physical] : physicals_) {
      if (physical.imported != 0) act(physical);
    }
  }
  template <class Act>
  void for_each_reservation(Act&& act) const {
    const Mappings::Lock held = parts_.mappings.lock();
    for (const auto& [start, reservation] : parts_.mappings.reservations(held)) {
      if (!reservation.of_key) act(reservation);
    }
  }
  template <class Act>
  void for_each_mapping(Act&& act) const {
    const Mappings::Lock held = parts_.mappings.lock();
    for (const Mapping* mapping : parts_.mappings.all(held)) {
      if (mapping->physical != nullptr) act(*mapping);
    }
  }

 private:
  using Lock = Mappings::Lock;
  struct Gone;
  std::optional<Seen> look(std::uintptr_t address, const Lock& held) const;
  Status check_target(const MapWish& wish, const Physical& physical, const Reservation* inside,
                      const Lock& held) const;
  Status map_locked(const MapWish& wish, const Lock& held);
  Gone unmap_locked(Mapping& mapping, const Lock& held);
  void finish(Gone gone, bool swept);
  // Of what the program made itself, not of what a key led to.
  Mapping* own_mapping(std::uintptr_t start, const Lock& held) const;
  Reservation* own_reservation(std::uintptr_t address, const Lock& held);
  // Own and imported memory in one reservation.
  void note_mixture(const Physical& physical, const Reservation& inside, const Lock& held) const;
  Refusal cannot_be_shared(const char* rule, const Extent& extent) const;
  void retire(const Physical& physical);
  void count_end(const Physical& physical);
  Status fill_on_host(const Extent& extent, const PhysicalPlan& plan);
  Status show_to_host(const Mapping& mapping);
  void hide_from_host(const Mapping& mapping);
  bool shown_without_asking(const Extent& extent) const;
  bool is_owner(const Extent& extent, const Grantee& place) const;
  bool reserved_by_kernel(const Reservation& reservation) const;
  Refusal not_mapped(const char* rule, std::uintptr_t address, const Lock& held) const;

  Parts parts_;
  VirtualFigures figures_;
  std::unordered_map<std::uint64_t, Physical> physicals_;
  // By share and device.
  std::map<std::pair<machine::ShareId, std::uint32_t>, std::uint64_t> imported_;
  // Shares of what this process gave up, while others hold it.
  std::vector<machine::ShareId> lingering_;
  // The last mappings that ended, for words.
  struct Ended {
    std::uintptr_t start = 0;
    std::size_t bytes = 0;
    const char* by = "";
  };
  std::array<Ended, 64> ended_;
  std::size_t next_ended_ = 0;
};

}  // namespace belay
