// Media memory by product, and on a small device.
#include "acl/ops/acl_dvpp.h"
#include "support/allocators.h"
#include "support/on_product.h"

namespace dvpp_products_test {

using namespace belay_test;

// Bytes that a media block costs; it is freed again.
std::size_t cost(std::size_t size) {
  const std::size_t before = free_bytes();
  void* block = nullptr;
  EXPECT_EQ(acldvppMalloc(&block, size), ACL_SUCCESS) << size;
  const std::size_t bytes = before - free_bytes();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 128, 0U);
  EXPECT_EQ(acldvppFree(block), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), before);
  return bytes;
}

TEST(DvppOnASmallDevice, M396_M428_HugePagesPayAndTheirShortageIs207001) {
  on_product("A2", {{"BELAY_HBM", "64M"}, {"BELAY_HUGE", "4M"}}, [] {
    const auto huge = [] {
      std::size_t free = 0, total = 0;
      EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM_HUGE, &free, &total), ACL_SUCCESS);
      return free;
    };
    void* out = nullptr;
    int mark = 0;
    const auto expect_short = [&](std::size_t size) {
      out = &mark;
      const std::size_t before = free_bytes();
      EXPECT_EQ(acldvppMalloc(&out, size), ACL_ERROR_RT_MEMORY_ALLOCATION) << size;
      EXPECT_EQ(out, nullptr);
      EXPECT_EQ(free_bytes(), before);
    };
    expect_short(4 * kMB - 31);  // no fallback to the 60 MB of normal pages
    ASSERT_EQ(acldvppMalloc(&out, 4 * kMB - 32), ACL_SUCCESS);
    void* all = out;
    EXPECT_EQ(huge(), 0U);
    expect_short(1);
    expect_short(0);
    EXPECT_EQ(take(kAlign32, 1, kHugeOnly), refused(ACL_ERROR_RT_MEMORY_ALLOCATION));
    EXPECT_EQ(take(kAlign32, 1, kNormalOnly), served(4096, kPage4K));
    EXPECT_EQ(acldvppFree(all), ACL_SUCCESS);
    EXPECT_EQ(huge(), 4 * kMB);
    const Block block(kAlign32, 4 * kMB, kHugeOnly);
    expect_short(1);
  });
}

TEST(DvppByProduct, M403_M404_M418_MissingOn950AndIpv) {
  for (const char* product : {"950", "IPV350"}) {
    on_product(product, [] {
      int mark = 0;
      void* out = &mark;
      EXPECT_EQ(acldvppMalloc(&out, 64), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
      EXPECT_EQ(acldvppMalloc(&out, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
      EXPECT_EQ(out, &mark);
      EXPECT_EQ(acldvppMalloc(nullptr, 64), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(acldvppMalloc(&out, SIZE_MAX - 63), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(acldvppFree(&mark), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
      EXPECT_EQ(acldvppFree(nullptr), ACL_ERROR_INVALID_PARAM);
      without_context([&] { EXPECT_EQ(acldvppMalloc(&out, 64), ACL_ERROR_RT_CONTEXT_NULL); });
    });
  }
}

TEST(DvppByProduct, M404_M436_PresentOnTheFiveFamilies) {
  for (const char* product : {"A3", "A2", "310B", "310P", "910"}) {
    on_product(product, [] {
      EXPECT_EQ(cost(1), 4096U);
      EXPECT_EQ(cost(4065), 8192U);
    });
  }
}

}  // namespace dvpp_products_test
