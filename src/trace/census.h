// Which blocks are alive and what was the most at once, for whoever asks (include/belay/belay.h). Physical
// memory counts as a block of its place; its address is its handle.
//
// Nothing is kept before the first question, or belay_watch.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "memory/memory.h"

namespace belay::trace {

inline constexpr std::int32_t kHost = -1;  // in place of a device: page-locked host memory

struct Held {
  std::size_t blocks, bytes, peak;
};
struct LiveBlock {
  std::uintptr_t address;
  std::size_t asked, bytes, page;
  std::uint64_t serial;
};

// Begins, or begins anew, with the blocks that are alive now. While the runtime is made, or under the same
// lock.
void keep_census(Memory& memory);
void drop_census();

// Nothing where there is no such device.
std::optional<Held> held_on(std::int32_t device);
std::optional<std::vector<LiveBlock>> blocks_on(std::int32_t device);
bool reset_peak(std::int32_t device);

}  // namespace belay::trace
