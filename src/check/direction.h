// Whether the stated kind of a copy fits the two addresses. Where the direction is found from the addresses
// the kind makes no difference (M-240, M-263), until the same line runs where it does.
#pragma once

#include <cstdint>
#include <optional>

#include "memory/memory.h"
#include "observe/event.h"

namespace belay::check {

struct WrongDirection {
  std::uint32_t kind;         // as it was stated
  bool to_wrong, from_wrong;  // whose side is another one
  bool to_device, from_device;
};
std::optional<WrongDirection> wrong_direction(const Memory& memory, std::uint32_t told_kind,
                                              const observe::Touch& to, const observe::Touch& from);

}  // namespace belay::check
