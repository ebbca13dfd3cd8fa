// Whether an access stays within what the program asked for (M-40, M-242, V-154, P-38).
//
// The driver looks at pages: what is rounded up and padded can be read and written, and so can the block
// after it. A program owns exactly the bytes that it asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/object.h"
#include "memory/memory.h"
#include "observe/event.h"

namespace belay::check {

// What the program owns around an address.
struct Owned {
  Object object = Object::None;
  std::uintptr_t start = 0;
  std::uintptr_t end = 0;          // of what was asked for
  std::uintptr_t end_of_room = 0;  // of what it takes, with padding and rounding
  std::uint32_t device = 0;
  bool mapped = false, read_only = false;

  std::size_t bytes() const { return end - start; }
};
// Mappings of one reservation that follow each other are one range, as far as `until` (V-154). Empty: belay
// does not know what is there, or nothing is.
std::optional<Owned> owned_at(Memory& memory, std::uintptr_t address, std::uintptr_t until);
// Of what a touch leads to.
std::optional<Owned> owned_by(Memory& memory, const observe::Touch& touch);

// The address after the last byte of a touch.
constexpr std::uintptr_t end_of(const observe::Touch& touch) {
  return touch.address + (touch.rows - 1) * touch.pitch + touch.bytes;
}

struct OutOfBounds {
  std::uint32_t row = 0;           // the first that leaves
  std::size_t outside = 0;         // bytes of all rows
  std::size_t into_neighbour = 0;  // ... that are in the room of somebody else
  std::optional<Owned> neighbour;  // whose
  bool begins_outside = false;     // already the first byte
};
// A touch that leaves what it begins in.
OutOfBounds out_of_bounds(Memory& memory, const observe::Touch& touch, const Owned& owned);

}  // namespace belay::check
