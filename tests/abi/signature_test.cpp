// The signature of every declared function. Only types are looked at: no
// function is called or referred to, so this needs no library.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "acl/acl.h"
#include "acl/ops/acl_dvpp.h"
#include "belay/belay.h"
#include "hi_dvpp.h"
#include "pin.h"

namespace {

#define HAS_TYPE(function, ...) static_assert(std::is_same_v<decltype(function), __VA_ARGS__>, #function)

TEST(Signatures, M34_M96_DeviceAllocation) {
  HAS_TYPE(aclrtMalloc, aclError(void**, size_t, aclrtMemMallocPolicy));
  HAS_TYPE(aclrtMallocAlign32, aclError(void**, size_t, aclrtMemMallocPolicy));
  HAS_TYPE(aclrtMallocCached, aclError(void**, size_t, aclrtMemMallocPolicy));
  HAS_TYPE(aclrtMallocWithCfg, aclError(void**, size_t, aclrtMemMallocPolicy, aclrtMallocConfig*));
  HAS_TYPE(aclrtMallocForTaskScheduler, aclError(void**, size_t, aclrtMemMallocPolicy, aclrtMallocConfig*));
  SUCCEED();
}

TEST(Signatures, M112_M123_M129_DeviceFreeAndCache) {
  HAS_TYPE(aclrtFree, aclError(void*));
  HAS_TYPE(aclrtFreeWithDevSync, aclError(void*));
  HAS_TYPE(aclrtMemFlush, aclError(void*, size_t));
  HAS_TYPE(aclrtMemInvalidate, aclError(void*, size_t));
  SUCCEED();
}

TEST(Signatures, M137_M150_M161_M166_Queries) {
  HAS_TYPE(aclrtGetMemInfo, aclError(aclrtMemAttr, size_t*, size_t*));
  HAS_TYPE(aclrtGetMemUsageInfo, aclError(int32_t, aclrtMemUsageInfo*, size_t, size_t*));
  HAS_TYPE(aclrtCheckMemType, aclError(void**, uint32_t, uint32_t, uint32_t*, uint32_t));
  HAS_TYPE(aclrtPointerGetAttributes, aclError(const void*, aclrtPtrAttributes*));
  SUCCEED();
}

TEST(Signatures, M175_M185_M190_M192_HostMemory) {
  HAS_TYPE(aclrtMallocHost, aclError(void**, size_t));
  HAS_TYPE(aclrtMallocHostWithCfg, aclError(void**, uint64_t, aclrtMallocConfig*));
  HAS_TYPE(aclrtFreeHost, aclError(void*));
  HAS_TYPE(aclrtFreeHostWithDevSync, aclError(void*));
  SUCCEED();
}

TEST(Signatures, M194_M201_M214_M219_M223_HostRegistration) {
  HAS_TYPE(aclrtHostRegister, aclError(void*, uint64_t, aclrtHostRegisterType, void**));
  HAS_TYPE(aclrtHostRegisterV2, aclError(void*, uint64_t, uint32_t));
  HAS_TYPE(aclrtHostGetDevicePointer, aclError(void*, void**, uint32_t));
  HAS_TYPE(aclrtHostUnregister, aclError(void*));
  HAS_TYPE(aclrtHostMemMapCapabilities, aclError(uint32_t, aclrtHacType, aclrtHostMemMapCapability*));
  SUCCEED();
}

TEST(Signatures, M229_M276_M303_M318_Copies) {
  HAS_TYPE(aclrtMemcpy, aclError(void*, size_t, const void*, size_t, aclrtMemcpyKind));
  HAS_TYPE(aclrtMemcpyBatch, aclError(void**, size_t*, void**, size_t*, size_t, aclrtMemcpyBatchAttr*,
                                      size_t*, size_t, size_t*));
  HAS_TYPE(aclrtMemcpyBatchV2,
           aclError(void**, size_t*, void**, size_t*, size_t, aclrtMemcpyBatchAttr*, size_t*, size_t));
  HAS_TYPE(aclrtMemcpy2d, aclError(void*, size_t, const void*, size_t, size_t, size_t, aclrtMemcpyKind));
  HAS_TYPE(aclrtGetMemcpyDescSize, aclError(aclrtMemcpyKind, size_t*));
  HAS_TYPE(aclrtSetMemcpyDesc, aclError(void*, aclrtMemcpyKind, void*, void*, size_t, void*));
  SUCCEED();
}

TEST(Signatures, QueuedCopies) {
  HAS_TYPE(aclrtMemcpyAsync, aclError(void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  HAS_TYPE(aclrtMemcpyAsyncWithCondition,
           aclError(void*, size_t, const void*, size_t, aclrtMemcpyKind, aclrtStream));
#pragma GCC diagnostic pop
  HAS_TYPE(aclrtMemcpyBatchAsync, aclError(void**, size_t*, void**, size_t*, size_t, aclrtMemcpyBatchAttr*,
                                           size_t*, size_t, size_t*, aclrtStream));
  HAS_TYPE(aclrtMemcpyBatchAsyncV2, aclError(void**, size_t*, void**, size_t*, size_t, aclrtMemcpyBatchAttr*,
                                             size_t*, size_t, aclrtStream));
  HAS_TYPE(aclrtMemcpy2dAsync,
           aclError(void*, size_t, const void*, size_t, size_t, size_t, aclrtMemcpyKind, aclrtStream));
  HAS_TYPE(aclrtMemcpyAsyncWithDesc, aclError(void*, aclrtMemcpyKind, aclrtStream));
  HAS_TYPE(aclrtMemcpyAsyncWithOffset,
           aclError(void**, size_t, size_t, const void**, size_t, size_t, aclrtMemcpyKind, aclrtStream));
  SUCCEED();
}

TEST(Signatures, M378_M391_Fills) {
  HAS_TYPE(aclrtMemset, aclError(void*, size_t, int32_t, size_t));
  HAS_TYPE(aclrtMemsetD32, aclError(void*, size_t, uint32_t, size_t));
  SUCCEED();
}

TEST(Signatures, QueuedFills) {
  HAS_TYPE(aclrtMemsetAsync, aclError(void*, size_t, int32_t, size_t, aclrtStream));
  HAS_TYPE(aclrtMemsetD32Async, aclError(void*, size_t, uint32_t, size_t, aclrtStream));
  SUCCEED();
}

TEST(Signatures, WordsInMemory) {
  HAS_TYPE(aclrtValueWrite, aclError(void*, uint64_t, uint32_t, aclrtStream));
  HAS_TYPE(aclrtValueWait, aclError(void*, uint64_t, uint32_t, aclrtStream));
  SUCCEED();
}

TEST(Signatures, V9_VirtualMemory) {
  HAS_TYPE(aclrtReserveMemAddress, aclError(void**, size_t, size_t, void*, uint64_t));
  HAS_TYPE(aclrtReserveMemAddressNoUCMemory, aclError(void**, size_t, size_t, void*, uint64_t));
  HAS_TYPE(aclrtReleaseMemAddress, aclError(void*));
  HAS_TYPE(aclrtMallocPhysical, aclError(aclrtDrvMemHandle*, size_t, const aclrtPhysicalMemProp*, uint64_t));
  HAS_TYPE(aclrtFreePhysical, aclError(aclrtDrvMemHandle));
  HAS_TYPE(aclrtMapMem, aclError(void*, size_t, size_t, aclrtDrvMemHandle, uint64_t));
  HAS_TYPE(aclrtMemMapNoAccess, aclError(void*, size_t, size_t, aclrtDrvMemHandle, uint64_t));
  HAS_TYPE(aclrtUnmapMem, aclError(void*));
  HAS_TYPE(aclrtMemSetAccess, aclError(void*, size_t, aclrtMemAccessDesc*, size_t));
  HAS_TYPE(aclrtMemGetAccess, aclError(void*, aclrtMemLocation*, uint64_t*));
  HAS_TYPE(aclrtMemGetAllocationGranularity,
           aclError(aclrtPhysicalMemProp*, aclrtMemGranularityOptions, size_t*));
  HAS_TYPE(aclrtMemRetainAllocationHandle, aclError(void*, aclrtDrvMemHandle*));
  HAS_TYPE(aclrtMemGetAllocationPropertiesFromHandle, aclError(aclrtDrvMemHandle, aclrtPhysicalMemProp*));
  HAS_TYPE(aclrtMemGetAddressRange, aclError(void*, void**, size_t*));
  HAS_TYPE(aclrtMemMapSelectedLink, aclError(void*, size_t, void*, uint32_t));
  HAS_TYPE(aclrtMemMapSetLink, aclError(aclrtDrvMemHandle, aclrtMemLinkType));
  SUCCEED();
}

TEST(Signatures, V9_ManagedMemoryAndPeers) {
  HAS_TYPE(aclrtMemAllocManaged, aclError(void**, uint64_t, uint32_t));
  HAS_TYPE(aclrtMemManagedAdvise,
           aclError(const void*, uint64_t, aclrtMemManagedAdviseType, aclrtMemManagedLocation));
  HAS_TYPE(aclrtMemManagedGetAttr,
           aclError(aclrtMemManagedRangeAttribute, const void*, size_t, void*, size_t));
  HAS_TYPE(aclrtMemManagedGetAttrs,
           aclError(aclrtMemManagedRangeAttribute*, size_t, const void*, size_t, void**, size_t*));
  HAS_TYPE(aclrtMemManagedPrefetchAsync,
           aclError(const void*, size_t, aclrtMemManagedLocation, uint32_t, aclrtStream));
  HAS_TYPE(aclrtMemManagedPrefetchBatchAsync,
           aclError(const void**, size_t*, size_t, aclrtMemManagedLocation*, size_t*, size_t, uint64_t,
                    aclrtStream));
  HAS_TYPE(aclrtMemP2PMap, aclError(void*, size_t, int32_t, uint64_t));
  SUCCEED();
}

TEST(Signatures, V9_CacheOperations) {
  HAS_TYPE(aclrtCmoAsync, aclError(void*, size_t, aclrtCmoType, aclrtStream));
  HAS_TYPE(aclrtCmoAsyncWithBarrier, aclError(void*, size_t, aclrtCmoType, uint32_t, aclrtStream));
  HAS_TYPE(aclrtCmoWaitBarrier, aclError(aclrtBarrierTaskInfo*, aclrtStream, uint32_t));
  HAS_TYPE(aclrtCmoGetDescSize, aclError(size_t*));
  HAS_TYPE(aclrtCmoSetDesc, aclError(void*, void*, size_t));
  HAS_TYPE(aclrtCmoAsyncWithDesc, aclError(void*, aclrtCmoType, aclrtStream, const void*));
  SUCCEED();
}

TEST(Signatures, M397_M398_M400_M401_MediaMemory) {
  HAS_TYPE(acldvppMalloc, aclError(void**, size_t));
  HAS_TYPE(acldvppFree, aclError(void*));
  HAS_TYPE(hi_mpi_dvpp_malloc, int32_t(uint32_t, void**, uint64_t));
  HAS_TYPE(hi_mpi_dvpp_free, int32_t(void*));
  SUCCEED();
}

TEST(Signatures, R23_R35_R38_R46_StartAndEnd) {
  HAS_TYPE(aclInit, aclError(const char*));
  HAS_TYPE(aclFinalize, aclError());
  HAS_TYPE(aclFinalizeReference, aclError(uint64_t*));
  HAS_TYPE(aclInitCallbackRegister, aclError(aclRegisterCallbackType, aclInitCallbackFunc, void*));
  HAS_TYPE(aclInitCallbackUnRegister, aclError(aclRegisterCallbackType, aclInitCallbackFunc));
  HAS_TYPE(aclFinalizeCallbackRegister, aclError(aclRegisterCallbackType, aclFinalizeCallbackFunc, void*));
  HAS_TYPE(aclFinalizeCallbackUnRegister, aclError(aclRegisterCallbackType, aclFinalizeCallbackFunc));
  SUCCEED();
}

TEST(Signatures, R54_R58_R61_R68_DeviceLife) {
  HAS_TYPE(aclrtSetDevice, aclError(int32_t));
  HAS_TYPE(aclrtResetDevice, aclError(int32_t));
  HAS_TYPE(aclrtResetDeviceForce, aclError(int32_t));
  HAS_TYPE(aclrtGetDevice, aclError(int32_t*));
  SUCCEED();
}

TEST(Signatures, DeviceSynchronise) {
  HAS_TYPE(aclrtSynchronizeDevice, aclError());
  HAS_TYPE(aclrtSynchronizeDeviceWithTimeout, aclError(int32_t));
  SUCCEED();
}

TEST(Signatures, R75_R76_R77_R78_R79_R80_R82_R83_R84_R85_R86_DeviceQueries) {
  HAS_TYPE(aclrtGetDeviceCount, aclError(uint32_t*));
  HAS_TYPE(aclrtGetRunMode, aclError(aclrtRunMode*));
  HAS_TYPE(aclrtGetSocName, const char*());
  HAS_TYPE(aclrtQueryDeviceStatus, aclError(int32_t, aclrtDeviceStatus*));
  HAS_TYPE(aclrtGetDeviceUtilizationRate, aclError(int32_t, aclrtUtilizationInfo*));
  HAS_TYPE(aclrtGetDeviceInfo, aclError(uint32_t, aclrtDevAttr, int64_t*));
  HAS_TYPE(aclrtGetDeviceCapability, aclError(int32_t, aclrtDevFeatureType, int32_t*));
  HAS_TYPE(aclrtGetDevicesTopo, aclError(uint32_t, uint32_t, uint64_t*));
  HAS_TYPE(aclrtDeviceGetStreamPriorityRange, aclError(int32_t*, int32_t*));
  HAS_TYPE(aclrtDeviceGetUuid, aclError(int32_t, aclrtUuid*));
  HAS_TYPE(aclrtDeviceGetPCIBusId, aclError(int32_t, char*, int32_t));
  HAS_TYPE(aclrtDeviceGetByPCIBusId, aclError(const char*, int32_t*));
  SUCCEED();
}

TEST(Signatures, R273_Architecture) {
  HAS_TYPE(aclrtCheckArchCompatibility, aclError(const char*, int32_t*));
  SUCCEED();
}

TEST(Signatures, R88_R89_R90_DeviceNumbers) {
  HAS_TYPE(aclrtGetLogicDevIdByUserDevId, aclError(int32_t, int32_t*));
  HAS_TYPE(aclrtGetUserDevIdByLogicDevId, aclError(int32_t, int32_t*));
  HAS_TYPE(aclrtGetLogicDevIdByPhyDevId, aclError(int32_t, int32_t*));
  HAS_TYPE(aclrtGetPhyDevIdByLogicDevId, aclError(int32_t, int32_t*));
  HAS_TYPE(aclrtGetUserDevIdByPhyDevId, aclError(int32_t, int32_t*));
  HAS_TYPE(aclrtGetPhyDevIdByUserDevId, aclError(int32_t, int32_t*));
  HAS_TYPE(aclrtDeviceGetBareTgid, aclError(int32_t*));
  SUCCEED();
}

TEST(Signatures, R91_R92_R94_R96_PeerAccess) {
  HAS_TYPE(aclrtDeviceCanAccessPeer, aclError(int32_t*, int32_t, int32_t));
  HAS_TYPE(aclrtDeviceEnablePeerAccess, aclError(int32_t, uint32_t));
  HAS_TYPE(aclrtDeviceDisablePeerAccess, aclError(int32_t));
  HAS_TYPE(aclrtDevicePeerAccessStatus, aclError(int32_t, int32_t, int32_t*));
  SUCCEED();
}

TEST(Signatures, R98_R100_R101_R102_R104_DeviceSettings) {
  HAS_TYPE(aclrtRegDeviceStateCallback, aclError(const char*, aclrtDeviceStateCallback, void*));
  HAS_TYPE(aclrtSetTsDevice, aclError(aclrtTsId));
  HAS_TYPE(aclrtSetDeviceSatMode, aclError(aclrtFloatOverflowMode));
  HAS_TYPE(aclrtGetDeviceSatMode, aclError(aclrtFloatOverflowMode*));
  HAS_TYPE(aclrtDeviceSetLimit, aclError(aclrtDeviceLimit, size_t));
  HAS_TYPE(aclrtDeviceGetLimit, aclError(aclrtDeviceLimit, size_t*));
  HAS_TYPE(aclrtGetOverflowStatus, aclError(void*, size_t, aclrtStream));
  HAS_TYPE(aclrtResetOverflowStatus, aclError(aclrtStream));
  HAS_TYPE(aclrtDeviceGetHostAtomicCapabilities,
           aclError(uint32_t*, const aclrtAtomicOperation*, uint32_t, int32_t));
  HAS_TYPE(aclrtDeviceGetP2PAtomicCapabilities,
           aclError(uint32_t*, const aclrtAtomicOperation*, uint32_t, int32_t, int32_t));
  SUCCEED();
}

TEST(Signatures, R275_FloatOverflow) {
  HAS_TYPE(aclrtGetFloatOverflowStatus, aclError(void*, uint64_t, aclrtStream));
  HAS_TYPE(aclrtResetFloatOverflowStatus, aclError(aclrtStream));
  HAS_TYPE(aclrtNpuGetFloatOverFlowStatus, aclError(void*, uint64_t, uint32_t, aclrtStream));
  HAS_TYPE(aclrtNpuClearFloatOverFlowStatus, aclError(uint32_t, aclrtStream));
  SUCCEED();
}

TEST(Signatures, R276_TheFlushTakesAnything) {
  HAS_TYPE(aclrtDeviceL2CacheFlush, aclError(...));
  SUCCEED();
}

TEST(Signatures, R270_R271_R272_Faults) {
  HAS_TYPE(aclrtGetMemUceInfo, aclError(int32_t, aclrtMemUceInfo*, size_t, size_t*));
  HAS_TYPE(aclrtMemUceRepair, aclError(int32_t, aclrtMemUceInfo*, size_t));
  HAS_TYPE(aclrtGetErrorVerbose, aclError(int32_t, aclrtErrorInfo*));
  HAS_TYPE(aclrtRepairError, aclError(int32_t, const aclrtErrorInfo*));
  SUCCEED();
}

TEST(Signatures, R122_R123_R124_OptionsAndLimits) {
  HAS_TYPE(aclrtSetSysParamOpt, aclError(aclSysParamOpt, int64_t));
  HAS_TYPE(aclrtGetSysParamOpt, aclError(aclSysParamOpt, int64_t*));
  HAS_TYPE(aclrtCtxSetSysParamOpt, aclError(aclSysParamOpt, int64_t));
  HAS_TYPE(aclrtCtxGetSysParamOpt, aclError(aclSysParamOpt, int64_t*));
  HAS_TYPE(aclrtGetDeviceResLimit, aclError(int32_t, aclrtDevResLimitType, uint32_t*));
  HAS_TYPE(aclrtSetDeviceResLimit, aclError(int32_t, aclrtDevResLimitType, uint32_t));
  HAS_TYPE(aclrtResetDeviceResLimit, aclError(int32_t));
  HAS_TYPE(aclrtGetStreamResLimit, aclError(aclrtStream, aclrtDevResLimitType, uint32_t*));
  HAS_TYPE(aclrtSetStreamResLimit, aclError(aclrtStream, aclrtDevResLimitType, uint32_t));
  HAS_TYPE(aclrtResetStreamResLimit, aclError(aclrtStream));
  HAS_TYPE(aclrtUseStreamResInCurrentThread, aclError(aclrtStream));
  HAS_TYPE(aclrtUnuseStreamResInCurrentThread, aclError(aclrtStream));
  HAS_TYPE(aclrtGetResInCurrentThread, aclError(aclrtDevResLimitType, uint32_t*));
  SUCCEED();
}

TEST(Signatures, R274_HardwareSync) {
  HAS_TYPE(aclrtGetHardwareSyncAddr, aclError(void**));
  SUCCEED();
}

TEST(Signatures, R106_R109_R110_R111_R112_R113_R125_Contexts) {
  HAS_TYPE(aclrtCreateContext, aclError(aclrtContext*, int32_t));
  HAS_TYPE(aclrtDestroyContext, aclError(aclrtContext));
  HAS_TYPE(aclrtSetCurrentContext, aclError(aclrtContext));
  HAS_TYPE(aclrtGetCurrentContext, aclError(aclrtContext*));
  HAS_TYPE(aclrtGetPrimaryCtxState, aclError(int32_t, uint32_t*, int32_t*));
  HAS_TYPE(aclrtCtxGetCurrentDefaultStream, aclError(aclrtStream*));
  HAS_TYPE(aclrtCtxGetFloatOverflowAddr, aclError(void**));
  SUCCEED();
}

TEST(Signatures, StreamLife) {
  HAS_TYPE(aclrtCreateStream, aclError(aclrtStream*));
  HAS_TYPE(aclrtCreateStreamWithConfig, aclError(aclrtStream*, uint32_t, uint32_t));
  HAS_TYPE(aclrtDestroyStream, aclError(aclrtStream));
  HAS_TYPE(aclrtDestroyStreamForce, aclError(aclrtStream));
  SUCCEED();
}

TEST(Signatures, StreamWaitingAndAbort) {
  HAS_TYPE(aclrtSynchronizeStream, aclError(aclrtStream));
  HAS_TYPE(aclrtSynchronizeStreamWithTimeout, aclError(aclrtStream, int32_t));
  HAS_TYPE(aclrtStreamQuery, aclError(aclrtStream, aclrtStreamStatus*));
  HAS_TYPE(aclrtStreamAbort, aclError(aclrtStream));
  HAS_TYPE(aclrtStreamStop, aclError(aclrtStream));
  SUCCEED();
}

TEST(Signatures, StreamGettersAndAttributes) {
  HAS_TYPE(aclrtStreamGetId, aclError(aclrtStream, int32_t*));
  HAS_TYPE(aclrtStreamGetPriority, aclError(aclrtStream, uint32_t*));
  HAS_TYPE(aclrtStreamGetFlags, aclError(aclrtStream, uint32_t*));
  HAS_TYPE(aclrtGetStreamAvailableNum, aclError(uint32_t*));
  HAS_TYPE(aclrtSetStreamAttribute, aclError(aclrtStream, aclrtStreamAttr, aclrtStreamAttrValue*));
  HAS_TYPE(aclrtGetStreamAttribute, aclError(aclrtStream, aclrtStreamAttr, aclrtStreamAttrValue*));
  HAS_TYPE(aclrtSetStreamFailureMode, aclError(aclrtStream, uint64_t));
  HAS_TYPE(aclrtSetStreamOverflowSwitch, aclError(aclrtStream, uint32_t));
  HAS_TYPE(aclrtGetStreamOverflowSwitch, aclError(aclrtStream, uint32_t*));
  SUCCEED();
}

TEST(Signatures, StreamStateAndModels) {
  HAS_TYPE(aclrtRegStreamStateCallback, aclError(const char*, aclrtStreamStateCallback, void*));
  HAS_TYPE(aclrtPersistentTaskClean, aclError(aclrtStream));
  HAS_TYPE(aclrtActiveStream, aclError(aclrtStream, aclrtStream));
  HAS_TYPE(aclrtSwitchStream, aclError(void*, aclrtCondition, void*, aclrtCompareDataType, aclrtStream,
                                       aclrtStream, aclrtStream));
  HAS_TYPE(aclrtCreateStreamConfigHandle, aclrtStreamConfigHandle * ());
  HAS_TYPE(aclrtDestroyStreamConfigHandle, aclError(aclrtStreamConfigHandle*));
  HAS_TYPE(aclrtSetStreamConfigOpt,
           aclError(aclrtStreamConfigHandle*, aclrtStreamConfigAttr, const void*, size_t));
  HAS_TYPE(aclrtCreateStreamV2, aclError(aclrtStream*, const aclrtStreamConfigHandle*));
  SUCCEED();
}

TEST(Signatures, EventLifeAndRecord) {
  HAS_TYPE(aclrtCreateEvent, aclError(aclrtEvent*));
  HAS_TYPE(aclrtCreateEventWithFlag, aclError(aclrtEvent*, uint32_t));
  HAS_TYPE(aclrtCreateEventExWithFlag, aclError(aclrtEvent*, uint32_t));
  HAS_TYPE(aclrtDestroyEvent, aclError(aclrtEvent));
  HAS_TYPE(aclrtRecordEvent, aclError(aclrtEvent, aclrtStream));
  HAS_TYPE(aclrtRecordEventWithFlag, aclError(aclrtEvent, aclrtStream, uint32_t));
  HAS_TYPE(aclrtResetEvent, aclError(aclrtEvent, aclrtStream));
  SUCCEED();
}

TEST(Signatures, StreamWaits) {
  HAS_TYPE(aclrtStreamWaitEvent, aclError(aclrtStream, aclrtEvent));
  HAS_TYPE(aclrtStreamWaitEventWithTimeout, aclError(aclrtStream, aclrtEvent, int32_t));
  HAS_TYPE(aclrtStreamWaitEventWithFlag, aclError(aclrtStream, aclrtEvent, uint32_t, uint32_t));
  HAS_TYPE(aclrtSetOpWaitTimeout, aclError(uint32_t));
  SUCCEED();
}

TEST(Signatures, EventQueriesAndHostWaits) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  HAS_TYPE(aclrtQueryEvent, aclError(aclrtEvent, aclrtEventStatus*));
#pragma GCC diagnostic pop
  HAS_TYPE(aclrtQueryEventStatus, aclError(aclrtEvent, aclrtEventRecordedStatus*));
  HAS_TYPE(aclrtQueryEventWaitStatus, aclError(aclrtEvent, aclrtEventWaitStatus*));
  HAS_TYPE(aclrtSynchronizeEvent, aclError(aclrtEvent));
  HAS_TYPE(aclrtSynchronizeEventWithTimeout, aclError(aclrtEvent, int32_t));
  SUCCEED();
}

TEST(Signatures, EventTimesIdsAndProcesses) {
  HAS_TYPE(aclrtEventElapsedTime, aclError(float*, aclrtEvent, aclrtEvent));
  HAS_TYPE(aclrtEventGetTimestamp, aclError(aclrtEvent, uint64_t*));
  HAS_TYPE(aclrtGetEventId, aclError(aclrtEvent, uint32_t*));
  HAS_TYPE(aclrtGetEventAvailNum, aclError(uint32_t*));
  HAS_TYPE(aclrtIpcGetEventHandle, aclError(aclrtEvent, aclrtIpcEventHandle*));
  HAS_TYPE(aclrtIpcOpenEventHandle, aclError(aclrtIpcEventHandle, aclrtEvent*));
  SUCCEED();
}

TEST(Signatures, HostCallbacks) {
  HAS_TYPE(aclrtSubscribeReport, aclError(uint64_t, aclrtStream));
  HAS_TYPE(aclrtUnSubscribeReport, aclError(uint64_t, aclrtStream));
  HAS_TYPE(aclrtLaunchCallback, aclError(aclrtCallback, void*, aclrtCallbackBlockType, aclrtStream));
  HAS_TYPE(aclrtProcessReport, aclError(int32_t));
  HAS_TYPE(aclrtLaunchHostFunc, aclError(aclrtStream, aclrtHostFunc, void*));
  HAS_TYPE(aclrtGetThreadLastTaskId, aclError(uint32_t*));
  HAS_TYPE(aclrtSubscribeHostFunc, aclError(uint64_t, aclrtStream));
  HAS_TYPE(aclrtProcessHostFunc, aclError(int32_t));
  HAS_TYPE(aclrtUnSubscribeHostFunc, aclError(uint64_t, aclrtStream));
  SUCCEED();
}

TEST(Signatures, OperatorTimeouts) {
  HAS_TYPE(aclrtGetOpTimeOutInterval, aclError(uint64_t*));
  HAS_TYPE(aclrtSetOpExecuteTimeOut, aclError(uint32_t));
  HAS_TYPE(aclrtSetOpExecuteTimeOutV2, aclError(uint64_t, uint64_t*));
  HAS_TYPE(aclrtSetOpExecuteTimeOutWithMs, aclError(uint32_t));
  HAS_TYPE(aclrtGetOpExecuteTimeout, aclError(uint32_t*));
  SUCCEED();
}

TEST(Signatures, Notifies) {
  HAS_TYPE(aclrtCreateNotify, aclError(aclrtNotify*, uint64_t));
  HAS_TYPE(aclrtDestroyNotify, aclError(aclrtNotify));
  HAS_TYPE(aclrtRecordNotify, aclError(aclrtNotify, aclrtStream));
  HAS_TYPE(aclrtWaitAndResetNotify, aclError(aclrtNotify, aclrtStream, uint32_t));
  HAS_TYPE(aclrtGetNotifyId, aclError(aclrtNotify, uint32_t*));
  HAS_TYPE(aclrtNotifyBatchReset, aclError(aclrtNotify*, size_t));
  HAS_TYPE(aclrtNotifyGetExportKey, aclError(aclrtNotify, char*, size_t, uint64_t));
  HAS_TYPE(aclrtNotifyImportByKey, aclError(aclrtNotify*, const char*, uint64_t));
  HAS_TYPE(aclrtNotifySetImportPid, aclError(aclrtNotify, int32_t*, size_t));
  HAS_TYPE(aclrtNotifySetImportPidInterServer, aclError(aclrtNotify, aclrtServerPid*, size_t));
  SUCCEED();
}

TEST(Signatures, R277_R278_R279_R280_CountNotifies) {
  HAS_TYPE(aclrtCntNotifyCreate, aclError(aclrtCntNotify*, uint64_t));
  HAS_TYPE(aclrtCntNotifyDestroy, aclError(aclrtCntNotify));
  HAS_TYPE(aclrtCntNotifyRecord, aclError(aclrtCntNotify, aclrtStream, aclrtCntNotifyRecordInfo*));
  HAS_TYPE(aclrtCntNotifyWaitWithTimeout, aclError(aclrtCntNotify, aclrtStream, aclrtCntNotifyWaitInfo*));
  HAS_TYPE(aclrtCntNotifyReset, aclError(aclrtCntNotify, aclrtStream));
  HAS_TYPE(aclrtCntNotifyGetId, aclError(aclrtCntNotify, uint32_t*));
  SUCCEED();
}

TEST(Signatures, FailedTasksAndAbort) {
  HAS_TYPE(aclrtSetExceptionInfoCallback, aclError(aclrtExceptionInfoCallback));
  HAS_TYPE(aclrtExceptionInfoCallbackRegister, aclError(aclrtExceptionInfoCallback));
  HAS_TYPE(aclrtExceptionInfoCallbackUnregister, aclError(aclrtExceptionInfoCallback));
  HAS_TYPE(aclrtGetTaskIdFromExceptionInfo, uint32_t(const aclrtExceptionInfo*));
  HAS_TYPE(aclrtGetStreamIdFromExceptionInfo, uint32_t(const aclrtExceptionInfo*));
  HAS_TYPE(aclrtGetThreadIdFromExceptionInfo, uint32_t(const aclrtExceptionInfo*));
  HAS_TYPE(aclrtGetDeviceIdFromExceptionInfo, uint32_t(const aclrtExceptionInfo*));
  HAS_TYPE(aclrtGetErrorCodeFromExceptionInfo, uint32_t(const aclrtExceptionInfo*));
  HAS_TYPE(aclrtDeviceTaskAbort, aclError(int32_t, uint32_t));
  HAS_TYPE(aclrtSetDeviceTaskAbortCallback, aclError(const char*, aclrtDeviceTaskAbortCallback, void*));
  SUCCEED();
}

TEST(Signatures, R21_R212_Errors) {
  HAS_TYPE(aclGetRecentErrMsg, const char*());
  HAS_TYPE(aclrtGetLastError, aclError(aclrtLastErrLevel));
  HAS_TYPE(aclrtPeekAtLastError, aclError(aclrtLastErrLevel));
  SUCCEED();
}

TEST(Signatures, R231_R233_R234_DataBuffers) {
  HAS_TYPE(aclCreateDataBuffer, aclDataBuffer * (void*, size_t));
  HAS_TYPE(aclDestroyDataBuffer, aclError(const aclDataBuffer*));
  HAS_TYPE(aclUpdateDataBuffer, aclError(aclDataBuffer*, void*, size_t));
  HAS_TYPE(aclGetDataBufferAddr, void*(const aclDataBuffer*));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  HAS_TYPE(aclGetDataBufferSize, uint32_t(const aclDataBuffer*));
#pragma GCC diagnostic pop
  HAS_TYPE(aclGetDataBufferSizeV2, size_t(const aclDataBuffer*));
  SUCCEED();
}

TEST(Signatures, R235_R236_R237_HelpersAndLog) {
  HAS_TYPE(aclDataTypeSize, size_t(aclDataType));
  HAS_TYPE(aclFloat16ToFloat, float(aclFloat16));
  HAS_TYPE(aclFloatToFloat16, aclFloat16(float));
  HAS_TYPE(aclAppLog, void(aclLogLevel, const char*, const char*, uint32_t, const char*, ...));
  SUCCEED();
}

TEST(Signatures, R240_R241_R242_R243_R245_R246_VersionsAndCapabilities) {
  HAS_TYPE(aclrtGetVersion, aclError(int32_t*, int32_t*, int32_t*));
  HAS_TYPE(aclsysGetCANNVersion, aclError(aclCANNPackageName, aclCANNPackageVersion*));
  HAS_TYPE(aclsysGetVersionStr, aclError(char*, char*));
  HAS_TYPE(aclsysGetVersionNum, aclError(char*, int32_t*));
  HAS_TYPE(aclGetCannAttributeList, aclError(const aclCannAttr**, size_t*));
  HAS_TYPE(aclGetCannAttribute, aclError(aclCannAttr, int32_t*));
  HAS_TYPE(aclGetDeviceCapability, aclError(uint32_t, aclDeviceInfo, int64_t*));
  SUCCEED();
}

TEST(Signatures, BelaysOwn) {
  HAS_TYPE(belay_end, int(void));
  HAS_TYPE(belay_restart, int(void));
  HAS_TYPE(belay_generation, uint64_t(void));
  HAS_TYPE(belay_device_count, uint32_t(void));
  HAS_TYPE(belay_watch, void(void));
  HAS_TYPE(belay_memory_use, int(int32_t, belayUse*));
  HAS_TYPE(belay_reset_peak, int(int32_t));
  HAS_TYPE(belay_blocks, size_t(int32_t, belayBlock*, size_t));
  HAS_TYPE(belay_findings, size_t(size_t, belayFinding*, size_t));
  HAS_TYPE(belay_accept_finding, uint64_t(size_t, uint64_t));
  HAS_TYPE(belay_end_of_test, void(void));
  HAS_TYPE(belay_mark, size_t(void));
  HAS_TYPE(belay_range_push, void(const char*));
  HAS_TYPE(belay_range_pop, void(void));
  HAS_TYPE(belay_label, int(const void*, const char*));
  HAS_TYPE(belay_trace, int(const char*, uint64_t));
  HAS_TYPE(belay_check_segments, int(const void*, const belaySegment*, size_t));
  HAS_TYPE(belay_block_site, size_t(const void*, char*, size_t));
  HAS_TYPE(belay_host_may_touch, int(const void*));
  HAS_TYPE(belay_host_may_touch_devices, int(void));
  HAS_TYPE(belay_on_dropped_callback, void(void (*)(void (*)(void*), void*)));
  HAS_TYPE(belay_on_call_site, void(std::size_t(*)(std::uint64_t*, std::size_t)));
  HAS_TYPE(belay_on_frame, void(int (*)(std::uint64_t, belayFrame*)));
  HAS_TYPE(belay_stack_frames, int(void));
  SUCCEED();
}

}  // namespace
