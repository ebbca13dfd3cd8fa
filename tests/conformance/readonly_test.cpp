// Memory that user code may not change.
#include "support/allocators.h"

namespace readonly_test {

using namespace belay_test;

constexpr aclError kRefused = ACL_ERROR_RT_DRV_INTERNAL_ERROR;

class ReadOnly : public OnDevice {
 protected:
  static constexpr std::size_t kSize = 8192;
  void SetUp() override {
    OnDevice::SetUp();
    ASSERT_EQ(aclrtMalloc(&block_, kSize, policy(kReadOnly)), ACL_SUCCESS);
    before_ = contents(block_, kSize);
    host_.assign(kSize, static_cast<unsigned char>(~before_[0]));
  }
  void TearDown() override {
    EXPECT_EQ(contents(block_, kSize), before_) << "a refused call has written";
    EXPECT_EQ(aclrtFree(block_), ACL_SUCCESS);
    OnDevice::TearDown();
  }
  void* block_ = nullptr;
  std::vector<unsigned char> before_, host_;
};

TEST_F(ReadOnly, M75_M76_M78_M427_CopiesAndFillsIntoItAre507899) {
  const Block plain(kMalloc, kSize, kHugeFirst);
  for (const aclrtMemcpyKind kind :
       {ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEFAULT, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE}) {
    EXPECT_EQ(aclrtMemcpy(block_, kSize, host_.data(), kSize, kind), kRefused);
  }
  EXPECT_EQ(aclrtMemcpy(block_, kSize, plain.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE), kRefused);
  EXPECT_EQ(aclrtMemcpy(static_cast<char*>(block_) + kSize - 1, 1, host_.data(), 1, ACL_MEMCPY_DEFAULT),
            kRefused);
  EXPECT_EQ(aclrtMemset(block_, kSize, ~before_[0], kSize), kRefused);
  EXPECT_EQ(aclrtMemset(static_cast<char*>(block_) + 1, 1, ~before_[1], 1), kRefused);
  EXPECT_EQ(aclrtMemsetD32(block_, kSize, 0x12345678, kSize / 4), kRefused);
  EXPECT_EQ(aclrtMemcpy2d(block_, 64, host_.data(), 64, 32, 4, ACL_MEMCPY_HOST_TO_DEVICE), kRefused);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), kRefused);
}

TEST_F(ReadOnly, M427_BatchNamesTheItemAndCopiesNothing) {
  const Block plain(kMalloc, 64, kHugeFirst);
  ASSERT_EQ(aclrtMemset(plain.get(), 64, 1, 64), ACL_SUCCESS);
  void* dsts[2] = {plain.get(), block_};
  void* srcs[2] = {host_.data(), host_.data() + 64};
  std::size_t sizes[2] = {64, 64}, maxs[2] = {64, 64}, index = 0, fail = 77;
  aclrtMemcpyBatchAttr attr{};
  attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  EXPECT_EQ(aclrtMemcpyBatch(dsts, maxs, srcs, sizes, 2, &attr, &index, 1, &fail), kRefused);
  EXPECT_EQ(fail, 1U);
  EXPECT_EQ(contents(plain.get(), 64), std::vector<unsigned char>(64, 1));
  EXPECT_EQ(aclrtMemcpyBatchV2(dsts, maxs, srcs, sizes, 2, &attr, &index, 1), kRefused);
  EXPECT_EQ(contents(plain.get(), 64), std::vector<unsigned char>(64, 1));
}

TEST_F(ReadOnly, M78_CopyingOutOfItWorks) {
  const Block plain(kMalloc, kSize, kHugeFirst);
  EXPECT_EQ(aclrtMemcpy(host_.data(), kSize, block_, kSize, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(host_, before_);
  EXPECT_EQ(aclrtMemcpy(plain.get(), kSize, block_, kSize, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(contents(plain.get(), kSize), before_);
  EXPECT_EQ(aclrtMemcpy2d(host_.data(), 64, block_, 64, 32, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
}

TEST_F(ReadOnly, M77_M78_TheBasePolicyDecidesThePages) {
  for (const Allocator& allocator : decoding_allocators()) {
    for (std::uint32_t base = 0; base <= kNormalOnlyP2p; ++base) {
      for (const std::size_t size : {std::size_t{1}, kMB, kMB + 1, 2 * kMB + 1}) {
        EXPECT_EQ(take(allocator, size, base | kReadOnly), take(allocator, size, base))
            << allocator.name << base;
      }
      const Block block(allocator, 64, base | kReadOnly);
      EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), kRefused) << allocator.name << " " << base;
    }
  }
}

TEST_F(ReadOnly, M76_OneGigabytePagesCannotBeReadOnly) {
  for (const Allocator& allocator : decoding_allocators()) {
    for (const std::uint32_t value :
         {kHuge1g | kReadOnly, kHuge1gP2p | kReadOnly, kHuge1g | kReadOnly | kLow}) {
      EXPECT_EQ(take(allocator, 64, value), refused(ACL_ERROR_RT_FEATURE_NOT_SUPPORT)) << allocator.name;
    }
  }
}

TEST_F(ReadOnly, M427_ItIsFreedLikeAnyBlockAndItsPlaceIsWritableAgain) {
  for (int round = 0; round < 50; ++round) {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, kSize, policy(kReadOnly)), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&block, kSize, policy(kHugeFirst)), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(block, kSize, round, kSize), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
  Block last(kMalloc, 64, kReadOnly);
  EXPECT_EQ(aclrtFreeWithDevSync(last.release()), ACL_SUCCESS);
}

TEST_F(ReadOnly, M75_AFillThatRunsOutOfAWritableBlockWritesNothing) {
  const Block first(kAlign32, 4096, kNormalOnly);
  const Block second(kAlign32, 4096, kNormalOnly | kReadOnly);  // perhaps its neighbour
  EXPECT_EQ(aclrtMemset(first.get(), 8192, 1, 4096), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(first.get(), 8192, 2, 4097), kRefused);
  EXPECT_EQ(contents(first.get(), 4096), std::vector<unsigned char>(4096, 1));
  const std::vector<unsigned char> kept = contents(second.get(), 4096);
  EXPECT_EQ(aclrtMemset(second.bytes() - 1, 2, ~kept[0], 2), kRefused);
  EXPECT_EQ(contents(second.get(), 4096), kept);
}

}  // namespace readonly_test
