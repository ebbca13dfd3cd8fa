// aclrtMemcpyBatch on each product.
#include "support/batch.h"
#include "support/settings.h"

namespace memcpy_batch_products_test {

using namespace belay_test;

TEST(MemcpyBatchProducts, M283_OtherProducts_Answer207000_AfterTheOuterChecks) {
  for (const char* product : {"310B", "310P", "910", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Items items{2};
      Batch batch = items.up();
      EXPECT_EQ(batch.run(), kUnsupported) << product;
      EXPECT_EQ(batch.fail, kNoItem) << product;
      EXPECT_EQ(batch.run_v2(), kUnsupported) << product;
      without_context([&] { EXPECT_EQ(batch.run(), kUnsupported) << product; });
      Batch worse = items.up();
      worse.starts[0] = 1;  // M-288 comes later
      EXPECT_EQ(worse.run(), kUnsupported) << product;
      worse.attributes[0].rsv[3] = 1;  // M-282 comes before
      EXPECT_EQ(worse.run(), kBadArgument) << product;
      worse.sizes.assign(2, 0);
      EXPECT_EQ(worse.run(), ACL_SUCCESS) << product;
      items.expect_nothing_copied();
    });
  }
}

TEST(MemcpyBatchProducts, M283_M299_950A3A2_HaveIt) {
  for (const char* product : {"950", "A3", "A2"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Items items{3};
      EXPECT_EQ(items.up().run(), ACL_SUCCESS) << product;
      items.expect_all_up();
    });
  }
}

}  // namespace memcpy_batch_products_test
