// Where blocks start, and how a caller cuts one block into segments.
#include "acl/ops/acl_dvpp.h"
#include "hi_dvpp.h"
#include "support/segments.h"

namespace alignment_test {

using namespace belay_test;

class Alignment : public OnDevice {};

constexpr std::size_t kSizes[] = {1, 31, 32, 33, 63, 64, 65, 100, 4095, 4097, kMB, kMB + 1, 2 * kMB + 1};

// Odd sizes stay allocated together, so that the next block cannot be aligned by chance.
TEST_F(Alignment, M41_D11_DeviceBlocksStartAtAMultipleOf64) {
  for (const Allocator& allocator : all_allocators()) {
    std::vector<void*> blocks;
    for (const std::size_t size : kSizes) {
      for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kNormalOnly}) {
        void* block = nullptr;
        ASSERT_EQ(allocator.call(&block, size, policy(value)), ACL_SUCCESS);
        EXPECT_EQ(offset_in(block, 64), 0U) << allocator.name << " " << size;
        blocks.push_back(block);
      }
    }
    for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
}

TEST_F(Alignment, M41_PinnedBlocksStartAtAMultipleOf64) {
  std::vector<void*> blocks;
  for (const std::size_t size : {1U, 33U, 64U, 4097U}) {
    void* plain = nullptr;
    void* configured = nullptr;
    ASSERT_EQ(aclrtMallocHost(&plain, size), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHostWithCfg(&configured, size, nullptr), ACL_SUCCESS);
    EXPECT_EQ(offset_in(plain, 64), 0U);
    EXPECT_EQ(offset_in(configured, 64), 0U);
    blocks.insert(blocks.end(), {plain, configured});
  }
  for (void* block : blocks) EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
}

TEST_F(Alignment, M42_M95_M436_MediaBlocksStartAtAMultipleOf128) {
  std::vector<void*> blocks;
  for (const std::size_t size : kSizes) {
    void* first = nullptr;
    void* second = nullptr;
    ASSERT_EQ(acldvppMalloc(&first, size), ACL_SUCCESS);
    ASSERT_EQ(hi_mpi_dvpp_malloc(0, &second, size), 0);
    EXPECT_EQ(offset_in(first, 128), 0U) << size;
    EXPECT_EQ(offset_in(second, 128), 0U) << size;
    blocks.insert(blocks.end(), {first, second});
  }
  for (void* block : blocks) EXPECT_EQ(acldvppFree(block), ACL_SUCCESS);
}

TEST_F(Alignment, M43_BlocksAreAlignedToThePageInUse) {
  std::vector<void*> blocks;
  const auto expect_page = [&](const Allocator& allocator, std::uint32_t value, std::uint32_t page) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{5000}, 2 * kMB + 1}) {
      void* block = nullptr;
      ASSERT_EQ(allocator.call(&block, size, policy(value)), ACL_SUCCESS);
      EXPECT_EQ(page_of(block), page);
      EXPECT_EQ(offset_in(block, page), 0U) << allocator.name << " " << size;
      blocks.push_back(block);
    }
  };
  for (const Allocator& allocator : all_allocators()) {
    expect_page(allocator, kNormalOnly, kPage4K);
    expect_page(allocator, kHugeOnly, kPage2M);
    expect_page(allocator, kHuge1g, kPage1G);
  }
  for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(Alignment, M44_M80_HostMemoryOfACardTakesNoDeviceMemoryAndWholePages) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMallocHost(&block, 4097), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), free_before_);
  volatile char* bytes = static_cast<char*>(block);
  bytes[8191] = 1;  // its second page is there in full
  EXPECT_EQ(bytes[8191], 1);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);

  aclrtMallocAttribute attribute{};
  attribute.attr = ACL_RT_MEM_ATTR_VA_FLAG;
  attribute.value.vaFlag = 1;
  aclrtMallocConfig config{&attribute, 1};
  ASSERT_EQ(aclrtMallocHostWithCfg(&block, 1, &config), ACL_SUCCESS);
  bytes = static_cast<char*>(block);
  bytes[2 * kMB - 1] = 2;  // 2 MB with this flag
  EXPECT_EQ(bytes[2 * kMB - 1], 2);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
}

// ---------------------------------------------------------------- segments

TEST_F(Alignment, M45_M420_SegmentsOfDeviceBlocks) {
  constexpr int kCount = 5;
  for (const Segment& segment : kSegments) {
    const std::size_t request = (kCount - 1) * segment.step + segment.m;
    for (const Allocator& allocator : {kMalloc, kAlign32}) {
      for (const std::uint32_t value :
           {kHugeFirst, kHugeOnly, kHuge1g}) {  // also without 32 bytes of its own
        const Block block(allocator, request, value);
        expect_plan_works(block.get(), segment.length, segment.m, segment.step, 64, kCount);
      }
    }
    const Block one(kAlign32, segment.m, kNormalOnly);
    expect_plan_works(one.get(), segment.length, segment.m, segment.step, 64, 1);
  }
}

TEST_F(Alignment, M46_M420_SegmentsOfMediaBlocks) {
  constexpr int kCount = 5;
  for (const Segment& segment : kSegments) {
    const std::size_t request = (kCount - 1) * segment.media_step + segment.m;
    void* block = nullptr;
    ASSERT_EQ(acldvppMalloc(&block, request), ACL_SUCCESS);
    expect_plan_works(block, segment.length, segment.m, segment.media_step, 128, kCount);
    EXPECT_EQ(acldvppFree(block), ACL_SUCCESS);
    ASSERT_EQ(hi_mpi_dvpp_malloc(0, &block, request), 0);
    expect_plan_works(block, segment.length, segment.m, segment.media_step, 128, kCount);
    EXPECT_EQ(hi_mpi_dvpp_free(block), 0);
  }
}

TEST_F(Alignment, M47_APlanThatBreaksTheRuleGetsNoError) {
  const Block block(kMalloc, 200, kHugeFirst);
  EXPECT_EQ(aclrtMemset(block.bytes(), 100, 1, 100), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block.bytes() + 50, 100, 2, 100), ACL_SUCCESS);  // overlaps, not at a multiple of 64
  EXPECT_EQ(aclrtMemset(block.bytes() + 199, 1, 3, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  EXPECT_EQ(recent_message(), "");
}

}  // namespace alignment_test
