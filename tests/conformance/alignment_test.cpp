// Where blocks start, and how a caller cuts one block into segments.

#include <algorithm>

#include "acl/ops/acl_dvpp.h"
#include "allocators.h"
#include "hi_dvpp.h"

namespace {

using namespace belay_test;

class Alignment : public OnDevice {};

std::size_t offset_in(const void* block, std::size_t unit) {
  return reinterpret_cast<std::uintptr_t>(block) % unit;
}

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

void expect_host_memory_from_normal_pages(const std::string& product, const std::string& form) {
  on_product(product, {{"BELAY_FORM", form}, {"BELAY_HUGE", "16M"}}, [] {
    const auto figure = [](aclrtMemAttr attr) {
      std::size_t free = 0, total = 0;
      EXPECT_EQ(aclrtGetMemInfo(attr, &free, &total), ACL_SUCCESS);
      return free;
    };
    for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, std::size_t{4097}, 3 * kMB}) {
      const std::size_t before = free_bytes(), huge = figure(ACL_MEM_HUGE);
      void* block = nullptr;
      ASSERT_EQ(aclrtMallocHost(&block, size), ACL_SUCCESS);
      EXPECT_EQ(before - free_bytes(), up_to(size, 4096)) << size;
      EXPECT_EQ(figure(ACL_MEM_HUGE), huge);
      EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
      EXPECT_EQ(free_bytes(), before);
    }
  });
}

TEST(AlignmentInOneMachine, M44_M80_HostMemoryIsDeviceMemoryFromNormalPages) {
  expect_host_memory_from_normal_pages("310P", "RC");
  expect_host_memory_from_normal_pages("310B", "RC");
  expect_host_memory_from_normal_pages("310P", "OPEN_CTRL_CPU");
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

struct Segment {
  std::size_t length, m, step, media_step;
};

constexpr Segment kSegments[] = {
    {1, 64, 64, 128},     {31, 64, 64, 128},    {32, 64, 64, 128},        {33, 96, 128, 128},
    {64, 96, 128, 128},   {65, 128, 128, 128},  {96, 128, 128, 128},      {97, 160, 192, 256},
    {100, 160, 192, 256}, {128, 160, 192, 256}, {1000, 1056, 1088, 1152}, {4096, 4128, 4160, 4224},
};

// Cuts a block that was asked for with exactly the bytes of the plan; every segment keeps its own contents.
void expect_plan_works(void* block, std::size_t length, std::size_t m, std::size_t step, std::size_t align,
                       int count) {
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

TEST(AlignmentByProduct, M45_SegmentsOn950NeedNo32Bytes) {
  on_product("950", [] {
    for (const std::size_t length : {1U, 32U, 33U, 64U, 65U, 1000U}) {
      const std::size_t m = up_to(length, 32), step = up_to(m, 64);
      for (const Allocator& allocator : {kMalloc, kAlign32}) {
        const Block block(allocator, 3 * step + m, kHugeFirst);
        expect_plan_works(block.get(), length, m, step, 64, 4);
      }
    }
  });
}

TEST(AlignmentInOneMachine, M45_SegmentsOfHostMemory) {
  for (const char* form : {"RC", "OPEN_CTRL_CPU"}) {
    on_product("310P", {{"BELAY_FORM", form}}, [] {
      for (const Segment& segment : kSegments) {
        void* block = nullptr;
        ASSERT_EQ(aclrtMallocHost(&block, 3 * segment.step + segment.m), ACL_SUCCESS);
        expect_plan_works(block, segment.length, segment.m, segment.step, 64, 4);
        EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
      }
    });
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

}  // namespace
