// How many bytes a request takes on each product.
#include <rapidcheck.h>

#include "support/allocators.h"
#include "support/on_product.h"

namespace bytes_taken_products_test {

using namespace belay_test;

TEST(BytesTakenByProduct, M34_M35_M92_FurtherBytesAreANumberOfTheProduct) {
  for (const char* product : {"A3", "A2", "310B", "310P", "910"}) {
    on_product(product, [] {
      EXPECT_EQ(take(kMalloc, 4064, kNormalOnly).bytes, 4096U);
      EXPECT_EQ(take(kMalloc, 4065, kNormalOnly).bytes, 8192U);
      EXPECT_EQ(take(kCached, 4065, kNormalOnly).bytes, 8192U);
      EXPECT_EQ(take(kAlign32, 4096, kNormalOnly).bytes, 4096U);
    });
  }
  on_product("IPV350", [] {
    EXPECT_EQ(take(kMalloc, 4064, kNormalOnly).bytes, 4096U);
    EXPECT_EQ(take(kMalloc, 4065, kNormalOnly).bytes, 8192U);
    EXPECT_EQ(take(kAlign32, 4096, kNormalOnly).bytes, 4096U);
  });
  on_product("950", [] {
    for (const Allocator& allocator : all_allocators()) {
      for (const std::size_t size : {std::size_t{1}, std::size_t{4065}, std::size_t{4096}, std::size_t{4097},
                                     kMB, kMB + 1, 2 * kMB, 2 * kMB + 1}) {
        EXPECT_EQ(take(allocator, size, kNormalOnly), take(kAlign32, size, kNormalOnly))
            << allocator.name << size;
        EXPECT_EQ(take(allocator, size, kHugeOnly), take(kAlign32, size, kHugeOnly))
            << allocator.name << size;
      }
    }
    EXPECT_EQ(take(kMalloc, 2 * kMB, kHugeOnly), served(2 * kMB, kPage2M));
  });
}

aclError answer(const Allocator& allocator, std::size_t size, std::uint32_t value) {
  return take(allocator, size, value).code;
}

TEST(BytesTakenByProduct, M37_EverythingOn950EndsAtSizeMaxLess31) {
  on_product("950", [] {
    for (const Allocator& allocator : {kMalloc, kCached, kAlign32}) {
      EXPECT_EQ(answer(allocator, SIZE_MAX - 63, kHugeFirst), ACL_ERROR_RT_MEMORY_ALLOCATION)
          << allocator.name;
      EXPECT_EQ(answer(allocator, SIZE_MAX - 32, kHugeFirst), ACL_ERROR_RT_MEMORY_ALLOCATION)
          << allocator.name;
      EXPECT_EQ(answer(allocator, SIZE_MAX - 31, kHugeFirst), ACL_ERROR_INVALID_PARAM) << allocator.name;
    }
  });
}

}  // namespace bytes_taken_products_test
