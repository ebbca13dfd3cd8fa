// Which products have an address for cores that wait for each other.
#include "support/products.h"

namespace hardware_sync_products_test {

using namespace belay_test;

TEST(HardwareSyncProducts, R274_OnA3AndA2) {
  static void* address = nullptr;
  expect_only_on({"A3", "A2"},
                 {{"aclrtGetHardwareSyncAddr", [] { return aclrtGetHardwareSyncAddr(&address); }, {}, true}});
  for (const std::string& product : kProducts) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [] {
      EXPECT_EQ(aclrtGetHardwareSyncAddr(nullptr), ACL_ERROR_RT_PARAM_INVALID) << "looked at first";
    });
  }
}

}  // namespace hardware_sync_products_test
