// Which products have which functions. A missing one answers 207000 after the 100000 checks and the context.
#include <cstdint>
#include <string>
#include <vector>

#include "support/products.h"
#include "support/settings.h"

namespace runtime_products_test {

using belay_test::expect_all_but_ipv;
using belay_test::expect_only_on;
using belay_test::Function;
using belay_test::in_fresh_process;
using belay_test::kProducts;

std::int32_t number = 0, second = 0, third = 0;
std::uint32_t unsigned_number = 0;
std::uint64_t topology = 0;
std::int64_t wide = 0;
std::size_t size = 0;
aclrtUuid uuid;
char text[256];
char package[] = "runtime";

TEST(RuntimeProducts, R266_IdentityAndLimitsOn950A3A2) {
  const std::vector<Function> functions = {
      {"aclrtDeviceGetUuid", [] { return aclrtDeviceGetUuid(0, &uuid); },
       [] { return aclrtDeviceGetUuid(0, nullptr); }},
      {"aclrtDeviceGetPCIBusId", [] { return aclrtDeviceGetPCIBusId(0, text, 13); },
       [] { return aclrtDeviceGetPCIBusId(0, nullptr, 13); }},
      {"aclrtDeviceGetByPCIBusId", [] { return aclrtDeviceGetByPCIBusId("0000:00:00.0", &number); },
       [] { return aclrtDeviceGetByPCIBusId(nullptr, &number); }},
      {"aclrtDeviceSetLimit", [] { return aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 32768); },
       [] { return aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, std::size_t{1} << 32); }},
      {"aclrtDeviceGetLimit", [] { return aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, &size); },
       [] { return aclrtDeviceGetLimit(ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, nullptr); }},
  };
  expect_only_on({"950", "A3", "A2"}, functions);
}

TEST(RuntimeProducts, R266_TheProductComesBeforeTheId) {
  for (const char* product : {"310P", "910", "310B", "IPV350"}) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [product] {
      SCOPED_TRACE(product);
      EXPECT_EQ(aclrtDeviceGetUuid(-1, &uuid), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
      EXPECT_EQ(aclrtDeviceGetPCIBusId(99, text, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
      EXPECT_EQ(aclrtDeviceGetByPCIBusId("no bus", &number), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
      EXPECT_EQ(aclrtDeviceGetUuid(-1, nullptr), ACL_ERROR_INVALID_PARAM);
      EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    });
  }
}

TEST(RuntimeProducts, R266_R91_PeerAccess) {
  const std::vector<Function> functions = {
      {"aclrtDeviceCanAccessPeer", [] { return aclrtDeviceCanAccessPeer(&number, 0, 1); },
       [] { return aclrtDeviceCanAccessPeer(&number, 1, 1); }},
      {"aclrtDeviceEnablePeerAccess", [] { return aclrtDeviceEnablePeerAccess(1, 0); }, {}, true},
      {"aclrtDeviceDisablePeerAccess", [] { return aclrtDeviceDisablePeerAccess(1); }, {}, true},
  };
  expect_only_on({"950", "A3", "A2", "310P", "910"}, functions);
}

TEST(RuntimeProducts, R266_WhatEveryProductHas) {
  for (const std::string& product : kProducts) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&product] {
      SCOPED_TRACE(product);
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtGetDeviceCount(&unsigned_number), ACL_SUCCESS);
      EXPECT_GT(unsigned_number, 0U);
      auto mode = ACL_DEVICE;
      EXPECT_EQ(aclrtGetRunMode(&mode), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtGetDevice(&number), ACL_SUCCESS);
      EXPECT_EQ(number, 0);
      aclrtContext context = nullptr, current = nullptr;
      ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
      EXPECT_EQ(current, context);
      EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
      EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
      EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
      aclDataBuffer* const buffer = aclCreateDataBuffer(text, sizeof text);
      ASSERT_NE(buffer, nullptr);
      EXPECT_EQ(aclGetDataBufferAddr(buffer), text);
      EXPECT_EQ(aclGetDataBufferSizeV2(buffer), sizeof text);
      EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
      const aclCannAttr* list = nullptr;
      EXPECT_EQ(aclGetCannAttributeList(&list, &size), ACL_SUCCESS);
      EXPECT_EQ(aclGetCannAttribute(ACL_CANN_ATTR_BF16, &number), ACL_SUCCESS);
      EXPECT_EQ(aclGetDeviceCapability(0, ACL_DEVICE_INFO_AI_CORE_NUM, &wide), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
      EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    });
  }
}

aclError nothing_at_init(const char*, std::size_t, void*) { return ACL_SUCCESS; }
aclError nothing_at_end(void*) { return ACL_SUCCESS; }
void nothing_at_set(std::int32_t, aclrtDeviceState, void*) {}

TEST(RuntimeProducts, R266_StartAndCallbacksAreMissingOnIpv) {
  expect_all_but_ipv({
      {"aclFinalizeReference", [] { return aclFinalizeReference(nullptr); }, {}},
      {"aclInitCallbackRegister",
       [] { return aclInitCallbackRegister(ACL_REG_TYPE_OTHER, nothing_at_init, nullptr); },
       [] { return aclInitCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr); }},
      {"aclInitCallbackUnRegister",
       [] { return aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, nothing_at_init); },
       [] { return aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr); }},
      {"aclFinalizeCallbackRegister",
       [] { return aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, nothing_at_end, nullptr); },
       [] { return aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr); }},
      {"aclFinalizeCallbackUnRegister",
       [] { return aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, nothing_at_end); },
       [] { return aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, nullptr); }},
      {"aclrtRegDeviceStateCallback",
       [] { return aclrtRegDeviceStateCallback("name", nothing_at_set, nullptr); },
       [] { return aclrtRegDeviceStateCallback(nullptr, nothing_at_set, nullptr); }},
  });
}

TEST(RuntimeProducts, R266_QueriesAreMissingOnIpv) {
  static aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
  static aclrtUtilizationInfo use{};
  expect_all_but_ipv({
      {"aclrtQueryDeviceStatus", [] { return aclrtQueryDeviceStatus(0, &status); },
       [] { return aclrtQueryDeviceStatus(0, nullptr); }},
      {"aclrtGetDeviceUtilizationRate", [] { return aclrtGetDeviceUtilizationRate(0, &use); },
       [] { return aclrtGetDeviceUtilizationRate(0, nullptr); }},
      {"aclrtGetDeviceInfo", [] { return aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, &wide); },
       [] { return aclrtGetDeviceInfo(0, ACL_DEV_ATTR_AICORE_CORE_NUM, nullptr); }},
      {"aclrtGetDeviceCapability",
       [] { return aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &number); },
       [] { return aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, nullptr); }},
      {"aclrtGetDevicesTopo", [] { return aclrtGetDevicesTopo(0, 1, &topology); },
       [] { return aclrtGetDevicesTopo(0, 1, nullptr); }},
      {"aclrtDeviceGetStreamPriorityRange",
       [] { return aclrtDeviceGetStreamPriorityRange(&number, &second); },
       {}},
      {"aclrtGetLogicDevIdByUserDevId", [] { return aclrtGetLogicDevIdByUserDevId(0, &number); },
       [] { return aclrtGetLogicDevIdByUserDevId(0, nullptr); }},
      {"aclrtGetUserDevIdByLogicDevId", [] { return aclrtGetUserDevIdByLogicDevId(0, &number); },
       [] { return aclrtGetUserDevIdByLogicDevId(0, nullptr); }},
      {"aclrtGetLogicDevIdByPhyDevId", [] { return aclrtGetLogicDevIdByPhyDevId(0, &number); },
       [] { return aclrtGetLogicDevIdByPhyDevId(0, nullptr); }},
      {"aclrtGetPhyDevIdByLogicDevId", [] { return aclrtGetPhyDevIdByLogicDevId(0, &number); },
       [] { return aclrtGetPhyDevIdByLogicDevId(0, nullptr); }},
      {"aclrtGetUserDevIdByPhyDevId", [] { return aclrtGetUserDevIdByPhyDevId(0, &number); },
       [] { return aclrtGetUserDevIdByPhyDevId(0, nullptr); }},
      {"aclrtGetPhyDevIdByUserDevId", [] { return aclrtGetPhyDevIdByUserDevId(0, &number); },
       [] { return aclrtGetPhyDevIdByUserDevId(0, nullptr); }},
      {"aclrtDeviceGetBareTgid", [] { return aclrtDeviceGetBareTgid(&number); },
       [] { return aclrtDeviceGetBareTgid(nullptr); }},
      {"aclrtDevicePeerAccessStatus", [] { return aclrtDevicePeerAccessStatus(0, 1, &number); },
       [] { return aclrtDevicePeerAccessStatus(0, 1, nullptr); }},
      {"aclrtGetPrimaryCtxState", [] { return aclrtGetPrimaryCtxState(0, nullptr, &number); },
       [] { return aclrtGetPrimaryCtxState(0, nullptr, nullptr); }},
      {"aclrtGetVersion", [] { return aclrtGetVersion(&number, &second, &third); },
       [] { return aclrtGetVersion(&number, nullptr, &third); }},
      {"aclsysGetVersionStr", [] { return aclsysGetVersionStr(package, text); },
       [] { return aclsysGetVersionStr(package, nullptr); }},
      {"aclsysGetVersionNum", [] { return aclsysGetVersionNum(package, &number); },
       [] { return aclsysGetVersionNum(package, nullptr); }},
      {"aclsysGetCANNVersion",
       [] {
         aclCANNPackageVersion version{};
         return aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &version);
       },
       [] { return aclsysGetCANNVersion(ACL_PKG_NAME_CANN, nullptr); }},
  });
}

TEST(RuntimeProducts, R266_SettingsAreMissingOnIpv) {
  static aclrtStream stream = nullptr;
  expect_all_but_ipv({
      {"aclrtSetTsDevice", [] { return aclrtSetTsDevice(ACL_TS_ID_AICORE); },
       [] { return aclrtSetTsDevice(ACL_TS_ID_RESERVED); }},
      {"aclrtSetDeviceSatMode",
       [] {  // the mode that it is in already
         auto mode = ACL_RT_OVERFLOW_MODE_SATURATION;
         (void)aclrtGetDeviceSatMode(&mode);
         return aclrtSetDeviceSatMode(mode);
       },
       {},
       true},
      {"aclrtSetSysParamOpt", [] { return aclrtSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0); }, {}},
      {"aclrtGetSysParamOpt", [] { return aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, &wide); },
       [] { return aclrtGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr); }},
      {"aclrtGetDeviceResLimit",
       [] { return aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, &unsigned_number); },
       [] { return aclrtGetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, nullptr); }},
      {"aclrtSetDeviceResLimit", [] { return aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_CUBE_CORE, 1); }, {}},
      {"aclrtResetDeviceResLimit", [] { return aclrtResetDeviceResLimit(0); }, {}},
      {"aclrtCtxGetCurrentDefaultStream", [] { return aclrtCtxGetCurrentDefaultStream(&stream); },
       [] { return aclrtCtxGetCurrentDefaultStream(nullptr); }, true},
      {"aclrtCtxSetSysParamOpt", [] { return aclrtCtxSetSysParamOpt(ACL_OPT_DETERMINISTIC, 0); },
       [] { return aclrtCtxSetSysParamOpt(ACL_OPT_ENABLE_KERNEL_EARLY_START, 0); }, true},
      {"aclrtCtxGetSysParamOpt", [] { return aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, &wide); },
       [] { return aclrtCtxGetSysParamOpt(ACL_OPT_DETERMINISTIC, nullptr); }, true},
      {"aclUpdateDataBuffer",
       [] {
         aclDataBuffer* const buffer = aclCreateDataBuffer(nullptr, 0);
         const aclError answer = aclUpdateDataBuffer(buffer, nullptr, 0);
         EXPECT_EQ(aclDestroyDataBuffer(buffer), ACL_SUCCESS);
         return answer;
       },
       [] { return aclUpdateDataBuffer(nullptr, nullptr, 0); }},
  });
}

TEST(RuntimeProducts, R104_R125_NoProductHasThese) {
  for (const std::string& product : kProducts) {
    in_fresh_process({{"BELAY_PRODUCT", product}}, [&product] {
      SCOPED_TRACE(product);
      EXPECT_EQ(aclrtDeviceGetHostAtomicCapabilities(nullptr, nullptr, 0, 0),
                ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
      EXPECT_EQ(aclrtDeviceGetP2PAtomicCapabilities(nullptr, nullptr, 0, 0, 1),
                ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
      EXPECT_EQ(aclrtCtxGetFloatOverflowAddr(nullptr), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
    });
  }
}

}  // namespace runtime_products_test
