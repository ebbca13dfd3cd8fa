// Page policies on chips without HBM.
#include "support/allocators.h"
#include "support/on_product.h"

namespace page_policy_products_test {

using namespace belay_test;

TEST(PagePolicyByProduct, M59_AChipWithoutHbmServesEveryPolicyFromDdr) {
  for (const char* product : {"310P", "310B"}) {
    on_product(product, [] {
      const auto ddr = [] {
        std::size_t free = 0, total = 0;
        EXPECT_EQ(aclrtGetMemInfo(ACL_DDR_MEM, &free, &total), ACL_SUCCESS);
        return free;
      };
      for (const std::uint32_t value :
           {kHugeFirst, kHugeOnly, kNormalOnly, kLow, kHigh, kHugeOnly | kHigh, 77U}) {
        const std::size_t before = ddr();
        const Block block(kAlign32, 2 * kMB, value);
        EXPECT_EQ(before - ddr(), 2 * kMB) << hex(value);
      }
    });
  }
}

}  // namespace page_policy_products_test
