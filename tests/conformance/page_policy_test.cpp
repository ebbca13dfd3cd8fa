// Which pages serve which policy while there are enough of them.
#include "support/allocators.h"

namespace page_policy_test {

using namespace belay_test;

class PagePolicy : public OnDevice {};

TEST_F(PagePolicy, M48_M49_TheLineOfHugeFirstIsOneMegabyteAskedFor) {
  for (const Allocator& allocator : all_allocators()) {
    SCOPED_TRACE(allocator.name);
    const std::size_t pad = allocator.pads ? 4096 : 0;
    EXPECT_EQ(take(allocator, 1, kHugeFirst), served(4096, kPage4K));
    EXPECT_EQ(take(allocator, kMB - 32, kHugeFirst), served(kMB, kPage4K));
    for (const std::size_t size : {kMB - 31, kMB - 1, kMB}) {  // padded these are more than 1 MB
      EXPECT_EQ(take(allocator, size, kHugeFirst), served(kMB + pad, kPage4K)) << size;
    }
    EXPECT_EQ(take(allocator, kMB + 1, kHugeFirst), served(2 * kMB, kPage2M));
    EXPECT_EQ(take(allocator, 3 * kMB, kHugeFirst), served(4 * kMB, kPage2M));
  }
}

TEST_F(PagePolicy, M50_HugeOnlyTakesHugePagesForASingleByte) {
  for (const Allocator& allocator : all_allocators()) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, kMB, 2 * kMB - 32}) {
      EXPECT_EQ(take(allocator, size, kHugeOnly), served(2 * kMB, kPage2M)) << allocator.name << " " << size;
    }
    EXPECT_EQ(take(allocator, 2 * kMB + 1, kHugeOnly), served(4 * kMB, kPage2M)) << allocator.name;
  }
}

TEST_F(PagePolicy, M51_NormalOnlyTakesNormalPagesWhateverTheSize) {
  for (const Allocator& allocator : all_allocators()) {
    for (const std::size_t size : {std::size_t{1}, kMB, kMB + 1, 2 * kMB, 64 * kMB, 5 * kGB}) {
      const std::size_t bytes = up_to(size + (allocator.pads ? 32 : 0), 4096);
      EXPECT_EQ(take(allocator, size, kNormalOnly), served(bytes, kPage4K)) << allocator.name << " " << size;
    }
  }
}

TEST_F(PagePolicy, M52_HugeFirstP2pHasNoLineAtOneMegabyte) {
  for (const Allocator& allocator : decoding_allocators()) {
    for (const std::size_t size : {std::size_t{1}, kMB - 1, kMB, kMB + 1, 2 * kMB - 32}) {
      EXPECT_EQ(take(allocator, size, kHugeFirstP2p), served(2 * kMB, kPage2M))
          << allocator.name << " " << size;
    }
  }
}

TEST_F(PagePolicy, M53_M54_TheOtherTwoP2pPoliciesInEveryFunction) {
  for (const Allocator& allocator : decoding_allocators()) {
    EXPECT_EQ(take(allocator, 1, kHugeOnlyP2p), served(2 * kMB, kPage2M)) << allocator.name;
    EXPECT_EQ(take(allocator, 1, kNormalOnlyP2p), served(4096, kPage4K)) << allocator.name;
    const std::size_t bytes = allocator.pads ? 8 * kMB + 4096 : 8 * kMB;
    EXPECT_EQ(take(allocator, 8 * kMB, kNormalOnlyP2p), served(bytes, kPage4K)) << allocator.name;
  }
}

TEST_F(PagePolicy, M55_M56_OneGigabytePagesRoundUpToWholeGigabytes) {
  for (const Allocator& allocator : decoding_allocators()) {
    for (const std::uint32_t value : {kHuge1g, kHuge1gP2p}) {
      EXPECT_EQ(take(allocator, 1, value), served(kGB, kPage1G)) << allocator.name;
      EXPECT_EQ(take(allocator, kGB - 1, value), served(kGB, kPage1G)) << allocator.name;
      EXPECT_EQ(take(allocator, kGB, value), served(kGB, kPage1G)) << allocator.name;
      EXPECT_EQ(take(allocator, kGB + 1, value), served(2 * kGB, kPage1G)) << allocator.name;
      EXPECT_EQ(take(allocator, 2040109466, value), served(2 * kGB, kPage1G)) << allocator.name;  // 1.9 GB
    }
  }
  EXPECT_EQ(take(kCached, 2040109466, kHuge1g), served(2 * kGB, kPage1G));
}

TEST_F(PagePolicy, M57_ALoneBandwidthItemIsHugeFirst) {
  for (const Allocator& allocator : decoding_allocators()) {
    for (const std::uint32_t value : {kLow, kHigh}) {
      for (const std::size_t size : {std::size_t{1}, kMB, kMB + 1, 2 * kMB, 5 * kMB}) {
        EXPECT_EQ(take(allocator, size, value), take(allocator, size, kHugeFirst))
            << allocator.name << hex(value);
      }
      EXPECT_EQ(take(allocator, kMB, value).page, kPage4K);
      EXPECT_EQ(take(allocator, kMB + 1, value).page, kPage2M);
    }
  }
}

TEST_F(PagePolicy, M58_ALoneReadOnlyIsHugeFirst) {
  for (const Allocator& allocator : decoding_allocators()) {
    EXPECT_EQ(take(allocator, kMB, kReadOnly), take(allocator, kMB, kHugeFirst)) << allocator.name;
    EXPECT_EQ(take(allocator, kMB + 1, kReadOnly), served(2 * kMB, kPage2M)) << allocator.name;
    const Block block(allocator, 64, kReadOnly);
    EXPECT_EQ(aclrtMemset(block.get(), 64, 0, 64), ACL_ERROR_RT_DRV_INTERNAL_ERROR) << allocator.name;
  }
}

TEST_F(PagePolicy, M60_AValueOutsideTheEnumDecidesAtTwoMegabytesAskedFor) {
  for (const Allocator& allocator : all_allocators()) {
    for (const std::uint32_t value : {8U, 99U, 0xFFFFFFFFU}) {
      const std::size_t pad = allocator.pads ? 4096 : 0;
      SCOPED_TRACE(std::string(allocator.name) + " " + hex(value));
      EXPECT_EQ(take(allocator, 1, value), served(4096, kPage4K));
      EXPECT_EQ(take(allocator, kMB, value), served(kMB + pad, kPage4K));
      EXPECT_EQ(take(allocator, kMB + 1, value), served(kMB + 4096, kPage4K));
      EXPECT_EQ(take(allocator, 2 * kMB - 1, value),
                served(2 * kMB + pad, kPage4K));  // padded it is 2 MB and more
      EXPECT_EQ(take(allocator, 2 * kMB, value), served(allocator.pads ? 4 * kMB : 2 * kMB, kPage2M));
      EXPECT_EQ(take(allocator, 2 * kMB + 1, value), served(4 * kMB, kPage2M));
    }
  }
}

// A P2P block is ordinary device memory: filled, copied, freed, and paid like any other.
TEST_F(PagePolicy, M423_P2pMemoryIsOrdinaryDeviceMemory) {
  for (const std::uint32_t value : {kHugeFirstP2p, kHugeOnlyP2p, kNormalOnlyP2p, kHuge1gP2p}) {
    const Block block(kMalloc, 5000, value);
    const Block plain(kMalloc, 5000, kNormalOnly);
    EXPECT_EQ(aclrtMemset(block.get(), 5000, 7, 5000), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(plain.get(), 5000, block.get(), 5000, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(contents(plain.get(), 5000).back(), 7);
    void* list[1] = {block.get()};
    std::uint32_t result = 0;
    EXPECT_EQ(aclrtCheckMemType(list, 1, ACL_RT_MEM_TYPE_DEV, &result, 0), ACL_SUCCESS);
    EXPECT_EQ(result, 1U);
  }
}

TEST_F(PagePolicy, M423_PlainMemoryMayBeCopiedBetweenDevicesToo) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  Block there(kMalloc, 5000, kNormalOnly);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  const Block here(kMalloc, 5000, kNormalOnly);
  EXPECT_EQ(aclrtMemset(here.get(), 5000, 9, 5000), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(there.get(), 5000, here.get(), 5000, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(contents(there.get(), 5000).back(), 9);
  EXPECT_EQ(aclrtFree(there.release()), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

}  // namespace page_policy_test
