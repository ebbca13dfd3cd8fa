// Tests of memory code with GoogleTest, each on a machine of its own; docs/cpp-testing.md explains them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "acl/acl.h"
#include "belay/belay.h"

namespace {

// What the last refusal on this thread said. Fetching a message also clears it.
std::string message() {
  const char* text = aclGetRecentErrMsg();
  return text != nullptr ? text : "";
}

class OnDevice : public testing::Test {
 protected:
  // A fresh machine, with the settings that the environment has now, and device 0 set on this thread.
  void restart() {
    ASSERT_EQ(belay_restart(), ACL_SUCCESS) << message();
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS) << message();
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << message();
  }

  void SetUp() override { restart(); }

  void TearDown() override {
    belayUse use{};
    ASSERT_EQ(belay_memory_use(0, &use), 0);
    EXPECT_EQ(use.blocks, 0U) << "blocks that the test did not free: " << use.bytes << " bytes";
    unsetenv("BELAY_HBM");
    belay_end();
  }
};

TEST_F(OnDevice, HoldsWholePages) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 3'000'000, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS) << message();
  belayUse use{};
  ASSERT_EQ(belay_memory_use(0, &use), 0);
  EXPECT_EQ(use.blocks, 1U);
  EXPECT_EQ(use.bytes, 4U << 20);  // two pages of 2 MB
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(OnDevice, SecondFreeIsRefused) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS) << message();
  ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
  const std::string said = message();
  EXPECT_NE(said.find("aclrtFree failed with 107000"), std::string::npos) << said;
  EXPECT_NE(said.find("rule M-111"), std::string::npos) << said;
}

TEST_F(OnDevice, TooLargeForASmallDevice) {
  setenv("BELAY_HBM", "64M", 1);
  restart();
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, 65U << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(block, nullptr);
}

// A death test runs in a forked child, which starts without a device: it sets one and allocates for itself.
// The child dies of SIGSEGV, or with a sanitizer's exit code; EXPECT_DEATH accepts both.
TEST(OnDeviceDeathTest, HostTouchIsExplained) {
  const auto touch = [] {
    void* block = nullptr;
    if (aclrtSetDevice(0) == ACL_SUCCESS &&
        aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS)
      *static_cast<volatile char*>(block) = 1;
  };
  EXPECT_DEATH(touch(), "which is device memory: byte 0 of the block");
}

}  // namespace
