// Access between devices.
#include <cstdint>

#include "support/device_fixture.h"
#include "support/worker.h"

namespace peer_access_test {

using belay_test::on_new_thread;

class PeerAccess : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
  void TearDown() override {
    for (std::int32_t device = 0; device < 8; ++device) aclrtResetDeviceForce(device);
  }
};

std::int32_t status(std::int32_t device, std::int32_t peer) {
  std::int32_t value = -77;
  EXPECT_EQ(aclrtDevicePeerAccessStatus(device, peer, &value), ACL_SUCCESS) << device << " to " << peer;
  return value;
}

TEST_F(PeerAccess, R91_EveryPairCan) {
  for (std::int32_t device = 0; device < 8; ++device) {
    for (std::int32_t peer = 0; peer < 8; ++peer) {
      std::int32_t can = -77;
      if (device == peer) {
        EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, device, peer), ACL_ERROR_INVALID_PARAM);
        EXPECT_EQ(can, -77);
      } else {
        EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, device, peer), ACL_SUCCESS);
        EXPECT_EQ(can, 1);
      }
    }
  }
}

TEST_F(PeerAccess, R91_TheSameIdComesBeforeNull) {
  EXPECT_EQ(aclrtDeviceCanAccessPeer(nullptr, 0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceCanAccessPeer(nullptr, 0, 1), ACL_ERROR_RT_PARAM_INVALID);
  std::int32_t can = -77;
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 99, 99), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 0, 8), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, -1, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(can, -77);
}

TEST_F(PeerAccess, R91_NoContextIsNeeded) {
  on_new_thread([] {
    std::int32_t can = -77;
    EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 0, 1), ACL_SUCCESS);
    EXPECT_EQ(can, 1);
  });
}

TEST_F(PeerAccess, R92_FlagsComeFirst) {
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 1), ACL_ERROR_FEATURE_UNSUPPORTED);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(0, 1), ACL_ERROR_FEATURE_UNSUPPORTED) << "before the same device";
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(99, UINT32_MAX), ACL_ERROR_FEATURE_UNSUPPORTED) << "before the id";
  on_new_thread([] {
    EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 2), ACL_ERROR_FEATURE_UNSUPPORTED) << "before the context";
  });
  EXPECT_EQ(status(0, 1), 0);
}

TEST_F(PeerAccess, R92_TheOtherChecks) {
  on_new_thread([] { EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_ERROR_RT_CONTEXT_NULL); });
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(-1, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(8, 0), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_ERROR_INVALID_PARAM) << "now 1 is the current device";
}

TEST_F(PeerAccess, R93_OneDirectionForTheWholeProcess) {
  EXPECT_EQ(status(0, 1), 0);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(status(0, 1), 1);
  EXPECT_EQ(status(1, 0), 0);
  EXPECT_EQ(status(0, 2), 0);
  on_new_thread([] { EXPECT_EQ(status(0, 1), 1); });
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS);
  EXPECT_EQ(status(1, 0), 1);
  EXPECT_EQ(status(0, 1), 1);
}

TEST_F(PeerAccess, R93_TheDeviceOfAnExplicitContextCounts) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 3), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(4, 0), ACL_SUCCESS);
  EXPECT_EQ(status(3, 4), 1);
  EXPECT_EQ(status(0, 4), 0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(PeerAccess, R94_Disable) {
  on_new_thread([] { EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_ERROR_RT_CONTEXT_NULL); });
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(8), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
  EXPECT_EQ(status(0, 1), 0);
}

TEST_F(PeerAccess, R95_NothingIsCounted) {
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS) << "not enabled";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(status(0, 1), 1);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
  EXPECT_EQ(status(0, 1), 0) << "one disable is enough";
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
}

TEST_F(PeerAccess, R96_Status) {
  EXPECT_EQ(aclrtDevicePeerAccessStatus(0, 1, nullptr), ACL_ERROR_INVALID_PARAM);
  std::int32_t value = -77;
  EXPECT_EQ(aclrtDevicePeerAccessStatus(0, 8, &value), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDevicePeerAccessStatus(8, 0, &value), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDevicePeerAccessStatus(-1, 0, &value), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(value, -77);
  on_new_thread([] { EXPECT_EQ(status(2, 3), 0) << "no context needed"; });
}

// A byte from device 0 to device 1, with device 0 current.
aclError copy_across() {
  void *from = nullptr, *to = nullptr;
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtMalloc(&to, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(to, 4096, 0, 4096), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMalloc(&from, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(from, 4096, 42, 4096), ACL_SUCCESS);
  const aclError answer = aclrtMemcpy(to, 4096, from, 4096, ACL_MEMCPY_DEVICE_TO_DEVICE);
  char arrived = 0;
  EXPECT_EQ(aclrtMemcpy(&arrived, 1, to, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(arrived, answer == ACL_SUCCESS ? 42 : 0);
  EXPECT_EQ(aclrtFree(from), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(to), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  return answer;
}

TEST_F(PeerAccess, R97_CopiesNeedIt) {
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);  // keeps device 1 open
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(copy_across(), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(copy_across(), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
  EXPECT_EQ(copy_across(), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
}

TEST_F(PeerAccess, R97_AResetDropsIt) {
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(status(0, 1), 1) << "not the last reset";
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(status(0, 1), 0);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  EXPECT_EQ(status(0, 1), 0);
}

}  // namespace peer_access_test
