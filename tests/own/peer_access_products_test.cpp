// Peer access on a product that lacks it.
#include <cstdint>

#include "support/device_fixture.h"
#include "support/settings.h"

namespace peer_access_products_test {

using belay_test::in_fresh_process;

class PeerAccessProducts : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
  void TearDown() override {
    for (std::int32_t device = 0; device < 8; ++device) aclrtResetDeviceForce(device);
  }
};

TEST_F(PeerAccessProducts, R91_R266_AbsentOn310B) {
  in_fresh_process({{"BELAY_PRODUCT", "310B"}, {"BELAY_DEVICES", "2"}}, [] {
    std::int32_t can = -77;
    EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 0, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(can, -77);
    EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 0, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_ERROR_RT_CONTEXT_NULL);
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  });
}

}  // namespace peer_access_products_test
