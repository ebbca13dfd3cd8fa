// Where in the program what is or was at an address began and ended, as errors tell it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/object.h"

namespace belay {

class Memory;

// Of what has or had a handle; empty where it is not known.
std::vector<Happened> history_of_handle(std::uint64_t handle);
// Of one that is named by its serial number.
std::vector<Happened> history_of(Object object, std::uint64_t serial);
// Of what ended last at an address or under a number.
std::vector<Happened> history_of_ended(std::uintptr_t address);
// The same refusal of a call that was given a handle of nothing that is alive: of something that has ended,
// or, where its history is empty although histories are kept, of nothing that ever was.
Refusal of_dead_handle(Refusal refusal, std::vector<Happened> history);
// Of what is alive around an address, else of what ended there last. Empty where call sites are not kept.
std::vector<Happened> history_at(const Memory& memory, std::uintptr_t address);

}  // namespace belay
