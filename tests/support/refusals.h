// What every refused call leaves behind, and handles to be refused.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "support/blocks.h"

namespace belay_test {

// Numbers that are no handle, and memory that is none. They are looked up, never followed.
inline const std::vector<void*>& garbage() {
  static std::uint64_t memory[16] = {1, 2, 3};
  static const std::vector<void*> all = {reinterpret_cast<void*>(std::uintptr_t{1}),
                                         reinterpret_cast<void*>(std::uintptr_t{0x1000}), sentinel(), memory,
                                         reinterpret_cast<void*>(~std::uintptr_t{0})};
  return all;
}

// An error of the runtime layer: the answer is the last error too, and the message names the function.
inline void expect_stored(int answer, int expected, const std::string& api) {
  EXPECT_EQ(answer, expected) << api;
  EXPECT_EQ(last_error(), expected) << api;
  const std::string text = recent_message();
  EXPECT_TRUE(mentions(text, api)) << api << " is missing in: " << text;
}
// An error of the first layer, or a missing feature: no last error.
inline void expect_not_stored(int answer, int expected, const std::string& api) {
  EXPECT_EQ(answer, expected) << api;
  EXPECT_EQ(last_error(), ACL_SUCCESS) << api;
}

}  // namespace belay_test
