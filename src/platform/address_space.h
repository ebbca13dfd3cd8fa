// A range of addresses that nothing else in the process uses.
//
// Device addresses are numbers in a table of ours; the reservation only keeps other mappings out and
// makes a touch fault. Where the range cannot be reserved (RLIMIT_AS, Valgrind, a sanitizer that owns
// the gap) the numbers are used all the same, as long as no byte of the range is accessible: an
// unmapped address faults as well as a PROT_NONE one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "platform/address_windows.h"

namespace belay::platform {

struct AddressRange {
  std::uintptr_t base = 0;
  std::size_t bytes = 0;
  bool reserved = false;  // ours in the kernel's books; pages can be mapped into it

  bool contains(std::uintptr_t address) const { return address - base < bytes; }
};

// The first wish that can be had. `to_map`: numbers that cannot be mapped to do not serve. A base of 0 in the
// answer means that there is no room for any of them.
AddressRange reserve_addresses(std::span<const AddressWish> wishes, bool to_map = false);

// The same for memory of the process itself: numbers that are used without being reserved serve only where
// memory can be mapped at them.
AddressRange reserve_for_memory(std::span<const AddressWish> wishes);

// Whether something that may not be written is mapped in a range.
bool has_unwritable_part(std::uintptr_t start, std::size_t bytes);

// Gives a reservation back, with everything that was mapped into it.
void release_addresses(const AddressRange& range);

// Memory of the process at a fixed address; where the range is not `reserved`, nothing of others is replaced.
bool map_memory(std::uintptr_t start, std::size_t bytes, bool reserved);

// What was mapped there for host code is not any more; the addresses stay reserved if they were.
void hide_pages(std::uintptr_t start, std::size_t bytes, bool reserved);

// How many mappings the kernel allows a process (vm.max_map_count); empty where nothing tells.
std::optional<std::size_t> most_mappings();

// Forbids (or allows again) writing to whole pages of a mapping made inside a reservation.
bool protect_pages(void* start, std::size_t bytes, bool writable);

}  // namespace belay::platform
