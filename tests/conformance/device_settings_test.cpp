// Settings of a device that belay stores or only checks.
#include <array>
#include <cstdint>
#include <vector>

#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/worker.h"

namespace device_settings_test {

using belay_test::as_enum;
using belay_test::in_fresh_process;
using belay_test::kKB;
using belay_test::kMB;
using belay_test::on_new_thread;

class DeviceSettings : public belay_test::OnDevice {};

TEST_F(DeviceSettings, R100_TaskSchedulers) {
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_AICORE), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_AIVECTOR), ACL_SUCCESS);
  for (const int other : {2, 3, 100, -1}) {
    EXPECT_EQ(aclrtSetTsDevice(as_enum<aclrtTsId>(other)), ACL_ERROR_INVALID_PARAM) << other;
  }
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_AICORE), ACL_SUCCESS);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(DeviceSettings, R101_SaturationModeIsStored) {
  for (const aclrtFloatOverflowMode mode : {ACL_RT_OVERFLOW_MODE_SATURATION, ACL_RT_OVERFLOW_MODE_INFNAN}) {
    EXPECT_EQ(aclrtSetDeviceSatMode(mode), ACL_SUCCESS);
    auto read = ACL_RT_OVERFLOW_MODE_UNDEF;
    EXPECT_EQ(aclrtGetDeviceSatMode(&read), ACL_SUCCESS);
    EXPECT_EQ(read, mode);
  }
}

TEST_F(DeviceSettings, R101_WrongModesChangeNothing) {
  EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN), ACL_SUCCESS);
  for (const int other : {2, 3, 100, -1}) {
    EXPECT_EQ(aclrtSetDeviceSatMode(as_enum<aclrtFloatOverflowMode>(other)), ACL_ERROR_RT_PARAM_INVALID)
        << other;
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
  }
  auto read = ACL_RT_OVERFLOW_MODE_UNDEF;
  EXPECT_EQ(aclrtGetDeviceSatMode(&read), ACL_SUCCESS);
  EXPECT_EQ(read, ACL_RT_OVERFLOW_MODE_INFNAN);
  EXPECT_EQ(aclrtGetDeviceSatMode(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(DeviceSettings, R101_R11_AContextIsNeeded) {
  on_new_thread([] {
    EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetDeviceSatMode(nullptr), ACL_ERROR_INVALID_PARAM);
  });
}

TEST_F(DeviceSettings, R101_EveryDeviceHasItsOwn) {
  EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN), ACL_SUCCESS);
  auto read = ACL_RT_OVERFLOW_MODE_UNDEF;
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDeviceSatMode(&read), ACL_SUCCESS);
  EXPECT_EQ(read, ACL_RT_OVERFLOW_MODE_SATURATION);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetDeviceSatMode(&read), ACL_SUCCESS);
  EXPECT_EQ(read, ACL_RT_OVERFLOW_MODE_INFNAN) << "of the device, not of the context";
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
}

std::size_t limit_of(aclrtDeviceLimit limit) {
  std::size_t value = 77;
  EXPECT_EQ(aclrtDeviceGetLimit(limit, &value), ACL_SUCCESS);
  return value;
}

TEST(DeviceLimit, R102_Defaults) {
  in_fresh_process([] {
    EXPECT_EQ(limit_of(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE), 32768U);
    EXPECT_EQ(limit_of(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE), 32768U);
    EXPECT_EQ(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, nullptr), ACL_ERROR_INVALID_PARAM);
  });
}

struct Rounding {
  std::size_t asked, stored;
};

TEST(DeviceLimit, R102_TheSimdStackIsRoundedTo16KiB) {
  in_fresh_process([] {
    const std::vector<Rounding> cases = {{1, 32 * kKB},
                                         {16 * kKB, 32 * kKB},
                                         {32 * kKB, 32 * kKB},
                                         {32 * kKB + 1, 48 * kKB},
                                         {40000, 48 * kKB},
                                         {48 * kKB, 48 * kKB},
                                         {48 * kKB + 1, 64 * kKB},
                                         {128 * kKB + 1, 144 * kKB},
                                         {192 * kKB - 1, 192 * kKB},
                                         {192 * kKB, 192 * kKB}};
    for (const Rounding& one : cases) {
      EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, one.asked), ACL_SUCCESS) << one.asked;
      EXPECT_EQ(limit_of(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE), one.stored) << one.asked;
    }
    EXPECT_EQ(limit_of(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE), 32768U) << "the other limit stays";
    aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 193 * kKB);
    EXPECT_LE(limit_of(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE), 192 * kKB) << "never above the most";
  });
}

TEST(DeviceLimit, R102_SimdPrintfIsRoundedTo8Bytes) {
  in_fresh_process([] {
    const std::vector<Rounding> cases = {{kKB, kKB},           {kKB + 1, kKB + 8}, {kKB + 8, kKB + 8},
                                         {100001, 100008},     {kMB, kMB},         {64 * kMB - 1, 64 * kMB},
                                         {64 * kMB, 64 * kMB}, {32768, 32768}};
    for (const Rounding& one : cases) {
      EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE, one.asked), ACL_SUCCESS)
          << one.asked;
      EXPECT_EQ(limit_of(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE), one.stored) << one.asked;
    }
  });
}

TEST(DeviceLimit, R102_R8_Errors) {
  in_fresh_process([] {
    for (const int other : {5, 6, 100, -1}) {
      EXPECT_EQ(aclrtDeviceSetLimit(as_enum<aclrtDeviceLimit>(other), 32768), ACL_ERROR_INVALID_PARAM)
          << other;
    }
    const std::size_t wide = std::size_t{UINT32_MAX} + 1;
    EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, wide), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE, wide),
              ACL_ERROR_INVALID_PARAM);
    for (const aclrtDeviceLimit simt :
         {ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE,
          ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE}) {
      EXPECT_EQ(aclrtDeviceSetLimit(simt, 32768), ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << simt;
      EXPECT_EQ(aclrtDeviceSetLimit(simt, wide), ACL_ERROR_INVALID_PARAM) << simt;
    }
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_EQ(limit_of(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE), 32768U);
  });
}

TEST(DeviceLimit, R102_ForTheWholeProcess) {
  in_fresh_process([] {
    on_new_thread([] {
      EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 64 * kKB), ACL_SUCCESS)
          << "no context needed";
    });
    EXPECT_EQ(limit_of(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE), 64 * kKB);
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(limit_of(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE), 64 * kKB);
  });
}

TEST_F(DeviceSettings, R104_NoAtomicCapabilities) {
  const std::array<aclrtAtomicOperation, 2> operations = {ACL_RT_ATOMIC_OPERATION_INTEGER_ADD,
                                                          ACL_RT_ATOMIC_OPERATION_CAS};
  std::array<std::uint32_t, 2> answers = {77, 77};
  EXPECT_EQ(aclrtDeviceGetHostAtomicCapabilities(answers.data(), operations.data(), 2, 0),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtDeviceGetP2PAtomicCapabilities(answers.data(), operations.data(), 2, 0, 1),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(answers[0], 77U);
  EXPECT_EQ(answers[1], 77U);
  on_new_thread([] {  // whatever the arguments, without a context
    EXPECT_EQ(aclrtDeviceGetHostAtomicCapabilities(nullptr, nullptr, 0, -1),
              ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtDeviceGetP2PAtomicCapabilities(nullptr, nullptr, 0, -1, 99),
              ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  });
}

}  // namespace device_settings_test
