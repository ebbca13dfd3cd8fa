// Where in the program objects were made and ended: of all that is not a block of a device, whose facts are
// beside it (memory/block_facts.h). Kept where call sites are.
#pragma once

#include <cstdint>
#include <optional>

#include "observe/event.h"

namespace belay::observe {

struct Life {
  Object object = Object::None;
  std::uint64_t serial = 0;
  std::uintptr_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t made_at = 0, ended_at = 0;  // call sites
  std::uint64_t made_ns = 0, ended_ns = 0;  // times; 0: not kept
  bool ended = false;
  bool swept = false;  // with its device or context, not by the program
};

// An event that an object begins or ends with.
void note_life(const Event& event);
std::optional<Life> life_of(Object object, std::uint64_t serial);
// Where it was made; 0: that is not known.
std::uint32_t made_at(Object object, std::uint64_t serial);
// Of whatever has or had a handle.
std::optional<Life> life_of_handle(std::uint64_t handle);
// The same from a signal handler: nothing, where somebody changes it just now.
std::optional<Life> peek_life(Object object, std::uint64_t serial);
// The one that ended last of those that were around an address.
std::optional<Life> ended_at_address(std::uintptr_t address);
void forget_lives();  // in the child of a fork, and where all ends

}  // namespace belay::observe
