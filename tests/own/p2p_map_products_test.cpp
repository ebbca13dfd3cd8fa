// aclrtMemP2PMap on each product.
#include "support/blocks.h"
#include "support/products.h"

namespace p2p_map_products_test {

using namespace belay_test;

int g_local = 0;

TEST(P2PMapProducts, V335_V486_NotOn310BAndIPV) {
  expect_only_on({"950", "A3", "A2", "310P", "910"},
                 {{"aclrtMemP2PMap", [] { return aclrtMemP2PMap(&g_local, 4, 1, 0); },
                   [] { return aclrtMemP2PMap(nullptr, 4, 1, 0); }}});
}

TEST(P2PMapProducts, V335_V336_BeforeTheDeviceIsLookedAt) {
  for (const char* product : {"310B", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&] {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemP2PMap(&g_local, 4, 99, 0), kUnsupported) << product;
      EXPECT_EQ(aclrtMemP2PMap(&g_local, 4, 99, 1), kBadArgument) << product;
    });
  }
}

TEST(P2PMapProducts, V339_V338_WhereItIs_ItWorks) {
  for (const char* product : {"950", "A3", "A2", "310P", "910"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}, {"BELAY_DEVICES", "2"}}, [&] {
      ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const Device block{4096};
      EXPECT_EQ(aclrtMemP2PMap(block.get(), 4096, 1, 0), kRefused) << product << ": no peer access yet";
      ASSERT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
      ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
      ASSERT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemP2PMap(block.get(), 4096, 1, 0), ACL_SUCCESS) << product;
      EXPECT_EQ(aclrtMemP2PMap(block.get(), 4096, 2, 0), kBadDevice) << product;
    });
  }
}

}  // namespace p2p_map_products_test
