// Flushing the cache of a device, on every product.
#include "support/products.h"

namespace l2_flush_products_test {

using namespace belay_test;

TEST(L2FlushProducts, R276_TheFlushIsEverywhere) {
  for (const std::string& product : kProducts) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      EXPECT_EQ(aclrtDeviceL2CacheFlush(), ACL_ERROR_RT_CONTEXT_NULL) << product;
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << product;
      EXPECT_EQ(aclrtDeviceL2CacheFlush(0), ACL_SUCCESS) << product;
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS) << product;
    });
  }
}

}  // namespace l2_flush_products_test
