// Limits of a device on other products, and without a device.
#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/settings.h"

namespace device_settings_products_test {

using belay_test::as_enum;
using belay_test::in_fresh_process;
using belay_test::kKB;
using belay_test::kMB;

std::size_t limit_of(aclrtDeviceLimit limit) {
  std::size_t value = 77;
  EXPECT_EQ(aclrtDeviceGetLimit(limit, &value), ACL_SUCCESS);
  return value;
}

TEST(DeviceLimitProducts, R102_On950TheMostIs128KiB) {
  in_fresh_process({{"BELAY_PRODUCT", "950"}}, [] {
    EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 120 * kKB), ACL_SUCCESS);
    EXPECT_EQ(limit_of(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE), 128 * kKB);
    aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 129 * kKB);
    EXPECT_LE(limit_of(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE), 128 * kKB);
    for (const aclrtDeviceLimit simt :
         {ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE,
          ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE}) {
      EXPECT_NE(aclrtDeviceSetLimit(simt, 1 * kMB), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << simt;
    }
  });
}

TEST(DeviceLimitProducts, R102_SimtLimitsAreMissingOnA3Too) {
  in_fresh_process({{"BELAY_PRODUCT", "A3"}}, [] {
    EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, 32768), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 192 * kKB), ACL_SUCCESS);
    EXPECT_EQ(limit_of(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE), 192 * kKB);
  });
}

TEST(DeviceLimitProducts, R102_WithoutAnyVisibleDevice) {
  in_fresh_process({{"ASCEND_RT_VISIBLE_DEVICES", ""}}, [] {
    EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 32768), ACL_ERROR_RT_INVALID_DEVICEID);
  });
}

}  // namespace device_settings_products_test
