// Whether a plan for cutting one block into segments keeps to the rule (M-45, M-46, M-420). The runtime never
// sees segments: a program that cuts too closely works here, and reads its neighbours' bytes on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"

namespace belay {

class Memory;

struct PlannedSegment {
  std::size_t offset, bytes;  // from the base
};

// What a segment takes, and of which number its address is a multiple.
struct CarvingRule {
  std::size_t round, extra, unit;

  // Empty: the number does not fit into 64 bits.
  std::optional<std::size_t> taken_by(std::size_t bytes) const;
};

struct BadSegment {
  enum class Why : std::uint8_t { Misaligned, TooClose, BeyondEnd } why;
  std::size_t number;
  std::size_t next = 0;   // of those too close
  std::size_t taken = 0;  // by the segment; 0: it does not fit into 64 bits
};
// The first, by number, that breaks the rule; in any order. `room` bytes are there from `base` on.
std::optional<BadSegment> find_bad_segment(std::span<const PlannedSegment> segments, std::uintptr_t base,
                                           std::size_t room, const CarvingRule& rule);

// The same for what is at an address.
Status check_segments(const Memory& memory, std::uintptr_t base, std::span<const PlannedSegment> segments);

}  // namespace belay
