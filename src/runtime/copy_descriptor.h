// A copy written down in device memory (M-340), as the device reads it when its turn comes.
#pragma once

#include <cstdint>

namespace belay {

// The public part is where the two addresses stand. The length is kept in full besides the 32-bit field, so
// that exactly 4 GB works.
struct CopyDescriptor {
  static constexpr std::uint32_t kMark = 0xBE1A;
  std::uint32_t mark, short_count;
  std::uint64_t count;
  std::uint64_t from, to;
  std::uint64_t rest[4];
};
static_assert(sizeof(CopyDescriptor) == 64);

}  // namespace belay
