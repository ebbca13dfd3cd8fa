// Segments that a program cuts out of one block by itself (M-45).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/allocators.h"

namespace belay_test {

inline std::size_t offset_in(const void* block, std::size_t unit) {
  return reinterpret_cast<std::uintptr_t>(block) % unit;
}

struct Segment {
  std::size_t length, m, step, media_step;
};

inline constexpr Segment kSegments[] = {
    {1, 64, 64, 128},     {31, 64, 64, 128},    {32, 64, 64, 128},        {33, 96, 128, 128},
    {64, 96, 128, 128},   {65, 128, 128, 128},  {96, 128, 128, 128},      {97, 160, 192, 256},
    {100, 160, 192, 256}, {128, 160, 192, 256}, {1000, 1056, 1088, 1152}, {4096, 4128, 4160, 4224},
};

// Cuts a block that was asked for with exactly the bytes of the plan; every segment keeps its own contents.
inline void expect_plan_works(void* block, std::size_t length, std::size_t m, std::size_t step,
                              std::size_t align, int count) {
  char* base = static_cast<char*>(block);
  for (int i = 0; i < count; ++i) {
    char* segment = base + static_cast<std::size_t>(i) * step;
    EXPECT_EQ(offset_in(segment, align), 0U);
    EXPECT_EQ(aclrtMemset(segment, m, i + 1, m), ACL_SUCCESS);
  }
  for (int i = 0; i < count; ++i) {
    const std::vector<unsigned char> bytes = contents(base + static_cast<std::size_t>(i) * step, length);
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), i + 1), static_cast<std::ptrdiff_t>(length));
  }
}

}  // namespace belay_test
