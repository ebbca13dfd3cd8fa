// Segments and host memory on other products, and where host and device are one machine.
#include "support/on_product.h"
#include "support/segments.h"

namespace alignment_products_test {

using namespace belay_test;

constexpr std::size_t kSizes[] = {1, 31, 32, 33, 63, 64, 65, 100, 4095, 4097, kMB, kMB + 1, 2 * kMB + 1};

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

// ---------------------------------------------------------------- segments

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

}  // namespace alignment_products_test
