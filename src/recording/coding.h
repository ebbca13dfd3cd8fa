// What writers and readers of a trace must do alike.
#pragma once

#include <cstdint>

#include "recording/wire.h"

namespace belay::recording {

// An address by its distance from the one before, which is often whole pages of 4 KB.
inline std::byte* put_near(std::byte* to, std::uint64_t address, std::uint64_t before) {
  const std::uint64_t distance = address - before;
  if (distance % 4096 == 0) {
    const std::uint64_t folded = fold(distance);  // -4096 is 8191, and -1 page is 1
    return put(to, (folded / 8192 * 2 + folded % 2) * 2 + 1);
  }
  if (fold(distance) >> 63 == 0) return put(to, fold(distance) * 2);
  return put(put(to, 0), address);
}
inline std::uint64_t get_near(Source& from, std::uint64_t before) {
  const std::uint64_t code = from.number();
  if (code == 0) return from.number();
  if (code % 2 == 0) return before + unfold(code / 2);
  return before + unfold(code / 2) * 4096;
}

// The pages of a block, as nearly always: its bytes rounded up to 32, 32 more (M-34), in whole pages.
constexpr std::uint64_t likely_pages(std::uint64_t bytes, unsigned page_shift) {
  const unsigned in_4k = page_shift < 12 ? 0 : page_shift - 12;
  const std::uint64_t all = (bytes + 31) / 32 * 32 + 32;
  const std::uint64_t page = std::uint64_t{4096} << in_4k;
  return (all / page + (all % page != 0 ? 1 : 0)) << in_4k;
}

// What heads a part of memory.
inline constexpr std::uint64_t kPartOnDevice = 1, kPartWrites = 2, kPartHasRows = 4, kPartIsWhole = 8,
                               kPartIsKnown = 16, kPartDevice = 32;

}  // namespace belay::recording
