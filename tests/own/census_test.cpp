// What is held, the most at once, and block by block.
#include <algorithm>
#include <vector>

#include "belay/belay.h"
#include "support/device_fixture.h"
#include "support/settings.h"

namespace census_test {

using namespace belay_test;

belayUse use_of(std::int32_t device) {
  belayUse use{};
  EXPECT_EQ(belay_memory_use(device, &use), 0);
  return use;
}

std::vector<belayBlock> blocks_of(std::int32_t device) {
  std::vector<belayBlock> blocks(belay_blocks(device, nullptr, 0));
  EXPECT_EQ(belay_blocks(device, blocks.data(), blocks.size()), blocks.size());
  return blocks;
}

void* allocate(std::size_t bytes, aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, bytes, policy), ACL_SUCCESS);
  return block;
}

class Census : public OnDevice {};

TEST_F(Census, CountsWholePagesAndKeepsThePeak) {
  const belayUse start = use_of(0);
  EXPECT_EQ(start.blocks, 0U);
  EXPECT_EQ(start.bytes, 0U);
  void* small = allocate(1);
  EXPECT_EQ(use_of(0).bytes, 4 * kKB);
  void* large = allocate(2 * kMB, ACL_MEM_MALLOC_HUGE_ONLY);
  EXPECT_EQ(use_of(0).bytes, 4 * kKB + 4 * kMB);
  EXPECT_EQ(use_of(0).blocks, 2U);
  EXPECT_EQ(aclrtFree(large), ACL_SUCCESS);
  EXPECT_EQ(use_of(0).bytes, 4 * kKB);
  EXPECT_EQ(use_of(0).peakBytes, 4 * kKB + 4 * kMB);
  EXPECT_EQ(belay_reset_peak(0), 0);
  EXPECT_EQ(use_of(0).peakBytes, 4 * kKB);
  EXPECT_EQ(aclrtFree(small), ACL_SUCCESS);
  EXPECT_EQ(use_of(0).bytes, 0U);
  EXPECT_EQ(use_of(0).peakBytes, 4 * kKB);
  EXPECT_EQ(use_of(1).bytes, 0U) << "another device";
}

TEST_F(Census, AgreesWithWhatTheDeviceHasLeft) {
  const std::size_t free_before = free_bytes();
  std::vector<void*> blocks;
  for (const std::size_t size : {1UL, 4096UL, 100'000UL, 1UL << 20, (1UL << 20) + 1, 3UL << 20, 1UL << 30})
    blocks.push_back(allocate(size));
  EXPECT_EQ(use_of(0).bytes, free_before - free_bytes());
  for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(use_of(0).bytes, 0U);
}

TEST_F(Census, ListsBlocksWithRisingNumbers) {
  void* first = allocate(100);
  void* second = allocate(3 * kMB, ACL_MEM_MALLOC_HUGE_ONLY);
  std::vector<belayBlock> blocks = blocks_of(0);
  ASSERT_EQ(blocks.size(), 2U);
  std::ranges::sort(blocks, {}, &belayBlock::serial);
  EXPECT_LT(blocks[0].serial, blocks[1].serial);
  EXPECT_EQ(blocks[0].address, reinterpret_cast<std::uint64_t>(first));
  EXPECT_EQ(blocks[0].asked, 100U);
  EXPECT_EQ(blocks[0].bytes, 4 * kKB);
  EXPECT_EQ(blocks[0].pageSize, 4 * kKB);
  EXPECT_EQ(blocks[1].address, reinterpret_cast<std::uint64_t>(second));
  EXPECT_EQ(blocks[1].asked, 3 * kMB);
  EXPECT_EQ(blocks[1].bytes, 4 * kMB);
  EXPECT_EQ(blocks[1].pageSize, 2 * kMB);
  belayBlock one{};
  EXPECT_EQ(belay_blocks(0, &one, 1), 2U) << "how many there are, not how many were written";
  EXPECT_NE(one.address, 0U);
  EXPECT_EQ(aclrtFree(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(second), ACL_SUCCESS);
  EXPECT_TRUE(blocks_of(0).empty());
}

TEST_F(Census, PageLockedMemoryIsAPlaceOfItsOwn) {
  const belayUse before = use_of(BELAY_HOST);
  void* host = nullptr;
  ASSERT_EQ(aclrtMallocHost(&host, 5000), ACL_SUCCESS);
  EXPECT_EQ(use_of(BELAY_HOST).blocks, before.blocks + 1);
  EXPECT_GE(use_of(BELAY_HOST).bytes, before.bytes + 5000);
  EXPECT_EQ(use_of(0).blocks, 0U);
  EXPECT_EQ(blocks_of(BELAY_HOST).back().address, reinterpret_cast<std::uint64_t>(host));
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  EXPECT_EQ(use_of(BELAY_HOST).bytes, before.bytes);
}

TEST_F(Census, AResetEndsWhatWasLeft) {
  allocate(kMB);
  EXPECT_EQ(use_of(0).blocks, 1U);
  ASSERT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(use_of(0).blocks, 0U);
  EXPECT_EQ(use_of(0).bytes, 0U);
}

TEST(CensusFromLater, WhatWasThereBeforeTheFirstQuestionIsCounted) {
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* early = allocate(3 * kMB);
    void* host = nullptr;
    ASSERT_EQ(aclrtMallocHost(&host, 4096), ACL_SUCCESS);
    EXPECT_EQ(use_of(0).bytes, 4 * kMB);
    EXPECT_EQ(use_of(0).peakBytes, 4 * kMB);
    EXPECT_EQ(use_of(BELAY_HOST).blocks, 1U);
    EXPECT_EQ(aclrtFree(early), ACL_SUCCESS);
    EXPECT_EQ(use_of(0).bytes, 0U);
  });
}

TEST(CensusFromLater, WatchingFirstMakesNothing) {
  in_fresh_process({{"BELAY_HBM", "3G"}}, [] {
    belay_watch();
    ::setenv("BELAY_HBM", "2G", 1);  // still in time: no runtime has read the settings
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), 2 * kGB);
    EXPECT_EQ(aclrtFree(allocate(2 * kMB)), ACL_SUCCESS);
    EXPECT_GE(use_of(0).peakBytes, 2 * kMB);
  });
}

TEST(CensusOfNothing, UnknownDevices) {
  belayUse use{};
  for (const std::int32_t device : {-2, 8, 64, INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(belay_memory_use(device, &use), -1) << device;
    EXPECT_EQ(belay_reset_peak(device), -1) << device;
    EXPECT_EQ(belay_blocks(device, nullptr, 0), SIZE_MAX) << device;
  }
  EXPECT_EQ(belay_memory_use(0, nullptr), -1);
}

TEST(HostMayTouch, DeviceMemoryOnlyWhereAllowed) {
  for (const auto& [access, form, expected] :
       {std::tuple{"deny", "EP", 0}, std::tuple{"allow", "EP", 1}, std::tuple{"deny", "RC", 1}}) {
    in_fresh_process({{"BELAY_HOST_ACCESS", access}, {"BELAY_FORM", form}, {"BELAY_PRODUCT", "310P"}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void* block = allocate(kMB);
      EXPECT_EQ(belay_host_may_touch(block), expected);
      EXPECT_EQ(belay_host_may_touch(static_cast<char*>(block) + kMB - 1), expected);
      EXPECT_EQ(belay_host_may_touch_devices(), expected);
      int here = 0;
      EXPECT_EQ(belay_host_may_touch(&here), 1);
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    });
  }
}

}  // namespace census_test
