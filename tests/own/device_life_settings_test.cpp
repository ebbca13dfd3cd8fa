// Setting devices whose number the environment decides.
#include <cstdint>
#include <thread>

#include "support/device_fixture.h"
#include "support/settings.h"

namespace device_life_settings_test {

using belay_test::in_fresh_process;

// -1 when the thread has no context.
std::int32_t current_device() {
  std::int32_t device = -1;
  const aclError answer = aclrtGetDevice(&device);
  EXPECT_TRUE(answer == ACL_SUCCESS || answer == ACL_ERROR_RT_CONTEXT_NULL) << answer;
  return answer == ACL_SUCCESS ? device : -1;
}

// No fixture: these tests count the sets and resets themselves.
class DeviceLifeSettings : public ::testing::Test {
 protected:
  void TearDown() override {
    for (std::int32_t device = 0; device < 8; ++device) aclrtResetDeviceForce(device);
  }
};

TEST_F(DeviceLifeSettings, R52_IdsFollowTheVisibleDevices) {
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", "2,5"}}, [] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(current_device(), 0);
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(current_device(), 1);
    for (const std::int32_t hidden : {2, 5, 7})
      EXPECT_EQ(aclrtSetDevice(hidden), ACL_ERROR_RT_INVALID_DEVICEID);
  });
}

TEST_F(DeviceLifeSettings, R53_AtMost64Devices) {
  in_fresh_process({{"BELAY_DEVICES", "64"}, {"BELAY_HBM", "64M"}}, [] {
    std::uint32_t count = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 64U);
    EXPECT_EQ(aclrtSetDevice(63), ACL_SUCCESS);
    EXPECT_EQ(current_device(), 63);
    EXPECT_EQ(aclrtSetDevice(64), ACL_ERROR_RT_INVALID_DEVICEID);
  });
  in_fresh_process({{"BELAY_DEVICES", "65"}}, [] {
    EXPECT_NE(aclrtSetDevice(64), ACL_SUCCESS);
    std::uint32_t count = 0;
    if (aclrtGetDeviceCount(&count) == ACL_SUCCESS) {
      EXPECT_LE(count, 64U);
    }
  });
}

}  // namespace device_life_settings_test
