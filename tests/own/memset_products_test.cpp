// aclrtMemset on each product.
#include "support/blocks.h"
#include "support/settings.h"

namespace memset_products_test {

using namespace belay_test;

TEST(MemsetProducts, M366_M378_EveryProductHasIt) {
  for (const char* product : {"950", "A3", "A2", "310B", "310P", "910", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Device block{64};
      EXPECT_EQ(aclrtMemset(block.get(), 64, 0x21, 64), ACL_SUCCESS) << product;
      EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0x21)) << product;
    });
  }
}

}  // namespace memset_products_test
