// The bytes that a request takes before its pages are counted. Pages hide the rounding to 32 from callers.
#include <gtest/gtest.h>

#include "memory/plan.h"

namespace belay {
namespace plan_bytes_test {

std::size_t documented(std::size_t size, std::size_t further) { return ((size - 1) / 32 + 1) * 32 + further; }

void expect_bytes(Api api, std::uint32_t policy, Product product, std::size_t further) {
  for (const std::size_t around : {100_KiB, 1_MiB, 2_MiB, 1_GiB}) {
    for (std::size_t size = around - 100; size <= around + 100; ++size) {
      const PlanResult result = plan(size, policy, api, row_of(product));
      ASSERT_TRUE(result) << size;
      ASSERT_EQ(result->bytes, documented(size, further)) << size << " " << policy;
    }
  }
  for (std::size_t size = 1; size <= 200; ++size) {
    ASSERT_EQ(plan(size, policy, api, row_of(product))->bytes, documented(size, further)) << size;
  }
}

constexpr Product kFiveFamilies[] = {Product::A3, Product::A2, Product::B310, Product::P310, Product::T910};

TEST(PlanBytes, M33_M34_MallocRoundsUpTo32AndAdds32) {
  for (const Product product : kFiveFamilies) {
    for (const std::uint32_t policy : {0U, 1U, 2U, 0x100U, 99U})
      expect_bytes(Api::Malloc, policy, product, 32);
  }
}

TEST(PlanBytes, M33_M34_M36_MallocAlign32RoundsUpTo32AndAddsNothing) {
  for (const Product product : kFiveFamilies) {
    for (const std::uint32_t policy : {0U, 1U, 2U, 0x100U, 99U})
      expect_bytes(Api::MallocAlign32, policy, product, 0);
  }
}

TEST(PlanBytes, M34_M419_WithTheOneGigabyteUnitMallocOnlyRoundsUpTo32) {
  for (const Product product : {Product::A3, Product::A2}) {
    for (const std::uint32_t policy : {6U, 7U, 0x106U}) expect_bytes(Api::Malloc, policy, product, 0);
  }
}

}  // namespace plan_bytes_test
}  // namespace belay
