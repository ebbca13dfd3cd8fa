// What holds for every function: which layer answers first, outputs on failure, the need of a context.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "acl/acl_rt_api.h"
#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/worker.h"

namespace runtime_common_test {

using belay_test::as_enum;
using belay_test::in_fresh_process;
using belay_test::on_new_thread;
using belay_test::recent_message;

class RuntimeCommon : public belay_test::OnDevice {};

int stray_object = 0;

// Each call breaks a rule of the first layer and one of the second.
TEST_F(RuntimeCommon, R8_TheFirstLayerWins) {
  EXPECT_EQ(aclrtQueryDeviceStatus(-1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceInfo(99, as_enum<aclrtDevAttr>(999), nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceCapability(-1, as_enum<aclrtDevFeatureType>(7), nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDevicesTopo(99, 99, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceGetUuid(-1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceGetPCIBusId(-1, nullptr, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDevicePeerAccessStatus(-1, 99, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateContext(nullptr, -1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetPrimaryCtxState(-1, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceResLimit(99, ACL_RT_DEV_RES_CUBE_CORE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(-1, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 99), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, std::size_t{1} << 32),
            ACL_ERROR_INVALID_PARAM);
}

TEST_F(RuntimeCommon, R8_R11_ItWinsOverAMissingContextToo) {
  on_new_thread([] {
    EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 0), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetDeviceSatMode(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  });
}

TEST_F(RuntimeCommon, R9_ANullOutputAnswers100000) {
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetRunMode(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceUtilizationRate(0, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceGetByPCIBusId("0000:00:00.0", nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceGetBareTgid(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceSatMode(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
}

// A value that no call answers; it must still be there after a failure.
constexpr std::int32_t kMark = 0x5A5A5A5A;

TEST_F(RuntimeCommon, R9_FailuresLeaveOutputsAlone) {
  std::int32_t number = kMark;
  EXPECT_EQ(aclrtGetLogicDevIdByUserDevId(-1, &number), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetUserDevIdByPhyDevId(99, &number), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDeviceCapability(-1, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &number),
            ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDevicePeerAccessStatus(0, 99, &number), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&number, 0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&number, 0, 99), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceGetByPCIBusId("no bus", &number), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetPrimaryCtxState(99, nullptr, &number), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(number, kMark);

  auto status = as_enum<aclrtDeviceStatus>(77);
  EXPECT_EQ(aclrtQueryDeviceStatus(99, &status), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(static_cast<int>(status), 77);

  std::int64_t wide = kMark;
  EXPECT_EQ(aclrtGetDeviceInfo(99, ACL_DEV_ATTR_NPU_ARCH, &wide), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetDeviceInfo(0, as_enum<aclrtDevAttr>(999), &wide), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_HD_CONNECT_TYPE, &wide), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &wide), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
  EXPECT_EQ(aclGetDeviceCapability(99, ACL_DEVICE_INFO_L2_SIZE, &wide), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(wide, kMark);

  std::uint64_t topology = 0x5A5A;
  EXPECT_EQ(aclrtGetDevicesTopo(0, 0, &topology), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetDevicesTopo(0, 99, &topology), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(topology, 0x5A5AU);

  std::uint32_t limit = 0x5A5A;
  EXPECT_EQ(aclrtGetDeviceResLimit(99, ACL_RT_DEV_RES_CUBE_CORE, &limit), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDeviceResLimit(0, as_enum<aclrtDevResLimitType>(2), &limit), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(limit, 0x5A5AU);

  aclrtContext context = &stray_object;
  EXPECT_EQ(aclrtCreateContext(&context, -1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(context, &stray_object);

  aclrtUuid uuid;
  std::memset(&uuid, 0x5A, sizeof uuid);
  EXPECT_EQ(aclrtDeviceGetUuid(99, &uuid), ACL_ERROR_RT_INVALID_DEVICEID);
  for (const char byte : uuid.bytes) EXPECT_EQ(byte, 0x5A);

  char bus[16];
  std::memset(bus, 0x5A, sizeof bus);
  EXPECT_EQ(aclrtDeviceGetPCIBusId(99, bus, sizeof bus), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtDeviceGetPCIBusId(0, bus, 12), ACL_ERROR_RT_PARAM_INVALID);
  for (const char byte : bus) EXPECT_EQ(byte, 0x5A);
}

TEST_F(RuntimeCommon, R9_R11_OutputsStayWithoutAContext) {
  on_new_thread([] {
    std::int32_t device = kMark;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(device, kMark);
    aclrtContext context = &stray_object;
    EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(context, &stray_object);
    aclrtStream stream = &stray_object;
    EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(stream, &stray_object);
    void* block = &stray_object;
    EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(block, &stray_object);
  });
}

TEST_F(RuntimeCommon, R11_WithoutAContextTheMessageSaysWhatToCall) {
  static std::int64_t option = 0;
  static std::size_t free_now = 0, total = 0;
  static std::int32_t device = 0;
  static aclrtContext context = nullptr;
  static aclrtStream stream = nullptr;
  static void* block = nullptr;
  const std::vector<std::pair<std::string, std::function<aclError()>>> calls = {
      {"aclrtMalloc", [] { return aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST); }},
      {"aclrtGetMemInfo", [] { return aclrtGetMemInfo(ACL_HBM_MEM, &free_now, &total); }},
      {"aclrtGetDevice", [] { return aclrtGetDevice(&device); }},
      {"aclrtGetCurrentContext", [] { return aclrtGetCurrentContext(&context); }},
      {"aclrtCtxGetCurrentDefaultStream", [] { return aclrtCtxGetCurrentDefaultStream(&stream); }},
      {"aclrtCtxSetSysParamOpt", [] { return aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 1); }},
      {"aclrtCtxGetSysParamOpt", [] { return aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &option); }},
      {"aclrtSetDeviceSatMode", [] { return aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION); }},
      {"aclrtDeviceEnablePeerAccess", [] { return aclrtDeviceEnablePeerAccess(1, 0); }},
      {"aclrtDeviceDisablePeerAccess", [] { return aclrtDeviceDisablePeerAccess(1); }},
  };
  for (const auto& [name, call] : calls) {
    on_new_thread([&name = name, &call = call] {
      EXPECT_EQ(call(), ACL_ERROR_RT_CONTEXT_NULL) << name;
      const std::string text = recent_message();
      EXPECT_NE(text.find("EE1018"), std::string::npos) << name << ": " << text;
      EXPECT_NE(text.find("aclrtSetDevice"), std::string::npos) << name << ": " << text;
      EXPECT_NE(text.find("aclrtSetCurrentContext"), std::string::npos) << name << ": " << text;
      EXPECT_NE(text.find(name), std::string::npos) << name << ": " << text;
    });
  }
}

TEST_F(RuntimeCommon, R11_ADestroyedContextIsNone) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
}

void use_the_device() {
  void* block = nullptr;
  char byte = 0;
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block, 64, 42, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(&byte, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(byte, 42);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST(RuntimeCommonAlone, R14_EverythingWorksWithoutAclInit) { in_fresh_process(use_the_device); }

TEST(RuntimeCommonAlone, R14_EverythingWorksAfterAclFinalize) {
  in_fresh_process([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    use_the_device();
    std::uint32_t count = 0;
    EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
    EXPECT_GT(count, 0U);
  });
}

// Typed overloads forward: same answers and same effects as the C functions.
TEST_F(RuntimeCommon, R6_TypedOverloadsForward) {
  float* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 4 * sizeof(float), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const float in[4] = {1.5F, -2.0F, 0.25F, 8.0F};
  float out[4] = {};
  EXPECT_EQ(aclrtMemcpy(block, sizeof in, in, sizeof in, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(out, sizeof out, block, sizeof out, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(std::memcmp(in, out, sizeof in), 0);
  EXPECT_EQ(aclrtMemcpy(out, 4, block, sizeof out, ACL_MEMCPY_DEVICE_TO_HOST), ACL_ERROR_RT_PARAM_INVALID);
  aclrtPtrAttributes typed{}, plain{};
  EXPECT_EQ(aclrtPointerGetAttributes(block, &typed), ACL_SUCCESS);
  EXPECT_EQ(aclrtPointerGetAttributes(static_cast<const void*>(block), &plain), ACL_SUCCESS);
  EXPECT_EQ(typed.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(std::memcmp(&typed, &plain, sizeof typed), 0);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);

  double* pinned = nullptr;
  ASSERT_EQ(aclrtMallocHost(&pinned, sizeof(double)), ACL_SUCCESS);
  *pinned = 3.0;
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  float** nowhere = nullptr;
  EXPECT_EQ(aclrtMalloc(nowhere, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocHost(nowhere, 64), ACL_ERROR_INVALID_PARAM);
}

// One number for each cause.
TEST_F(RuntimeCommon, R265_CausesAndTheirNumbers) {
  std::int64_t value = 0;
  EXPECT_EQ(aclrtGetDeviceInfo(0, as_enum<aclrtDevAttr>(999), &value), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, std::size_t{1} << 50, ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block, 64, 0, 64), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
}

// Many threads, every kind of call at once; answers stay exact.
TEST_F(RuntimeCommon, R18_AllFunctionsFromManyThreads) {
  constexpr int kThreads = 32, kRounds = 60;
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i, &ready] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      const std::int32_t device = i % 4;
      for (int round = 0; round < kRounds; ++round) {
        ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
        std::int32_t current = -1;
        EXPECT_EQ(aclrtGetDevice(&current), ACL_SUCCESS);
        EXPECT_EQ(current, device);
        aclrtContext mine = nullptr, seen = nullptr;
        ASSERT_EQ(aclrtCreateContext(&mine, device), ACL_SUCCESS);
        void* block = nullptr;
        ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
        unsigned char byte = 0;
        EXPECT_EQ(aclrtMemset(block, 4096, i, 4096), ACL_SUCCESS);
        EXPECT_EQ(aclrtGetCurrentContext(&seen), ACL_SUCCESS);
        EXPECT_EQ(seen, mine);
        EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
        EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
        EXPECT_NE(aclGetRecentErrMsg(), nullptr);
        EXPECT_EQ(aclrtMemcpy(&byte, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
        EXPECT_EQ(byte, i);
        EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
        EXPECT_EQ(aclrtDestroyContext(mine), ACL_SUCCESS);
        EXPECT_EQ(aclrtResetDevice(device), ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::int32_t device = 1; device < 4; ++device) {
    std::int32_t active = 1;
    EXPECT_EQ(aclrtGetPrimaryCtxState(device, nullptr, &active), ACL_SUCCESS);
    EXPECT_EQ(active, 0) << "device " << device;
  }
}

}  // namespace runtime_common_test
