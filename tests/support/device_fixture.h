// What most conformance tests stand on: device 0 is set, and nothing is left behind.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"

namespace belay_test {

inline constexpr std::size_t kKB = 1024, kMB = 1024 * 1024, kGB = 1024 * 1024 * 1024;

// The multiple of `unit` that holds so many bytes.
inline std::size_t up_to(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Free bytes of the current device, all page kinds together.
inline std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  if (total == 0) {  // a chip without HBM
    EXPECT_EQ(aclrtGetMemInfo(ACL_DDR_MEM, &free, &total), ACL_SUCCESS);
  }
  return free;
}

// The page size that a pointer reports.
inline std::uint32_t page_of(const void* pointer) {
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(pointer, &attributes), ACL_SUCCESS);
  return attributes.pageSize;
}

// Text accumulated for this thread, and cleared.
inline std::string recent_message() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? std::string{} : std::string{text};
}

// Runs the body on a thread of its own, which has no context.
inline void without_context(const std::function<void()>& body) { std::thread{body}.join(); }

class OnDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    free_before_ = free_bytes();
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    aclGetRecentErrMsg();
  }
  void TearDown() override {
    if (aclrtSetDevice(0) == ACL_SUCCESS) {
      EXPECT_EQ(free_bytes(), free_before_) << "the test left device memory behind";
      aclrtResetDevice(0);
    }
    aclrtResetDevice(0);
  }
  std::size_t free_before_ = 0;
};

}  // namespace belay_test
