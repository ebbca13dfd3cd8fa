// Tests with mistakes, and belay/gtest.h, which fails them for that; docs/cpp-testing.md shows what it
// prints.
#include "acl/acl.h"
#include "belay/gtest.h"

namespace {

const bool kChecked = belay::check_tests(belay::Leaks::PerTest);

class OnDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS); }
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }

  static void* allocate() {
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    return block;
  }
};

TEST_F(OnDevice, FreesTwice) {
  void* block = allocate();
  aclrtFree(block);
  aclrtFree(block);
}

TEST_F(OnDevice, Leaks) { EXPECT_NE(allocate(), nullptr); }

TEST_F(OnDevice, FreesTwiceOnPurpose) {
  const belay::MayFind meant{"double-free"};
  void* block = allocate();
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
}

}  // namespace
