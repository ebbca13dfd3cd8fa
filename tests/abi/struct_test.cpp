// Sizes and offsets of every structure, and the types that handles and callbacks have.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "acl/acl.h"
#include "acl/media/hi_dvpp.h"
#include "belay/belay.h"
#include "pin.h"

namespace {

template <typename A, typename B>
constexpr bool same = std::is_same_v<A, B>;

TEST(MallocAttrValue, M24_EightBytesAlignedToFour) {
  PIN(sizeof(aclrtMallocAttrValue), 8);
  PIN(alignof(aclrtMallocAttrValue), 4);
  PIN(offsetof(aclrtMallocAttrValue, moduleId), 0);
  PIN(offsetof(aclrtMallocAttrValue, deviceId), 0);
  PIN(offsetof(aclrtMallocAttrValue, vaFlag), 0);
  PIN(offsetof(aclrtMallocAttrValue, rsv), 0);
  static_assert(std::is_union_v<aclrtMallocAttrValue>);
  static_assert(same<decltype(aclrtMallocAttrValue::moduleId), uint16_t>);
  static_assert(same<decltype(aclrtMallocAttrValue::deviceId), uint32_t>);
  static_assert(same<decltype(aclrtMallocAttrValue::vaFlag), uint32_t>);
  static_assert(same<decltype(aclrtMallocAttrValue::rsv), uint8_t[8]>);
}

TEST(ModelDims, C24_NameCountAndDimensions) {
  PIN(sizeof(aclmdlIODims), 128 + 8 + 128 * 8);
  PIN(offsetof(aclmdlIODims, name), 0);
  PIN(offsetof(aclmdlIODims, dimCount), 128);
  PIN(offsetof(aclmdlIODims, dims), 136);
}

TEST(MallocAttribute, M25_TwelveBytes) {
  PIN(sizeof(aclrtMallocAttribute), 12);
  PIN(offsetof(aclrtMallocAttribute, attr), 0);
  PIN(offsetof(aclrtMallocAttribute, value), 4);
  static_assert(same<decltype(aclrtMallocAttribute::attr), aclrtMallocAttrType>);
  static_assert(same<decltype(aclrtMallocAttribute::value), aclrtMallocAttrValue>);
}

TEST(MallocConfig, M26_SixteenBytes) {
  PIN(sizeof(aclrtMallocConfig), 16);
  PIN(offsetof(aclrtMallocConfig, attrs), 0);
  PIN(offsetof(aclrtMallocConfig, numAttrs), 8);
  static_assert(same<decltype(aclrtMallocConfig::attrs), aclrtMallocAttribute*>);
  static_assert(same<decltype(aclrtMallocConfig::numAttrs), size_t>);
}

TEST(MemLocation, M27_V4_TheNumberComesFirst) {
  PIN(sizeof(aclrtMemLocation), 8);
  PIN(offsetof(aclrtMemLocation, id), 0);
  PIN(offsetof(aclrtMemLocation, type), 4);
  static_assert(same<decltype(aclrtMemLocation::id), uint32_t>);
  static_assert(same<decltype(aclrtMemLocation::type), aclrtMemLocationType>);
}

TEST(PtrAttributes, M28_V4_TwentyEightBytes) {
  PIN(sizeof(aclrtPtrAttributes), 28);
  PIN(offsetof(aclrtPtrAttributes, location), 0);
  PIN(offsetof(aclrtPtrAttributes, pageSize), 8);
  PIN(offsetof(aclrtPtrAttributes, rsv), 12);
  static_assert(same<decltype(aclrtPtrAttributes::location), aclrtMemLocation>);
  static_assert(same<decltype(aclrtPtrAttributes::pageSize), uint32_t>);
  static_assert(same<decltype(aclrtPtrAttributes::rsv), uint32_t[4]>);
}

TEST(MemcpyBatchAttr, M29_ThirtyTwoBytes) {
  PIN(sizeof(aclrtMemcpyBatchAttr), 32);
  PIN(offsetof(aclrtMemcpyBatchAttr, dstLoc), 0);
  PIN(offsetof(aclrtMemcpyBatchAttr, srcLoc), 8);
  PIN(offsetof(aclrtMemcpyBatchAttr, rsv), 16);
  static_assert(same<decltype(aclrtMemcpyBatchAttr::dstLoc), aclrtMemLocation>);
  static_assert(same<decltype(aclrtMemcpyBatchAttr::srcLoc), aclrtMemLocation>);
  static_assert(same<decltype(aclrtMemcpyBatchAttr::rsv), uint8_t[16]>);
}

TEST(MemUsageInfo, M30_HundredTwelveBytes) {
  PIN(sizeof(aclrtMemUsageInfo), 112);
  PIN(offsetof(aclrtMemUsageInfo, name), 0);
  PIN(offsetof(aclrtMemUsageInfo, curMemSize), 32);
  PIN(offsetof(aclrtMemUsageInfo, memPeakSize), 40);
  PIN(offsetof(aclrtMemUsageInfo, reserved), 48);
  static_assert(same<decltype(aclrtMemUsageInfo::name), char[32]>);
  static_assert(same<decltype(aclrtMemUsageInfo::curMemSize), uint64_t>);
  static_assert(same<decltype(aclrtMemUsageInfo::memPeakSize), uint64_t>);
  static_assert(same<decltype(aclrtMemUsageInfo::reserved), size_t[8]>);
}

TEST(Uuid, R85_SixteenBytes) {
  PIN(sizeof(aclrtUuid), 16);
  static_assert(same<decltype(aclrtUuid::bytes), char[16]>);
}

TEST(UtilizationInfo, R79_TwentyFourBytes) {
  PIN(sizeof(aclrtUtilizationInfo), 24);
  PIN(offsetof(aclrtUtilizationInfo, cubeUtilization), 0);
  PIN(offsetof(aclrtUtilizationInfo, vectorUtilization), 4);
  PIN(offsetof(aclrtUtilizationInfo, aicpuUtilization), 8);
  PIN(offsetof(aclrtUtilizationInfo, memoryUtilization), 12);
  PIN(offsetof(aclrtUtilizationInfo, utilizationExtend), 16);
  static_assert(same<decltype(aclrtUtilizationInfo::memoryUtilization), int32_t>);
  static_assert(same<decltype(aclrtUtilizationInfo::utilizationExtend), aclrtUtilizationExtendInfo*>);
}

TEST(StreamAttrValue, SixteenBytesThatOverlap) {
  PIN(sizeof(aclrtStreamAttrValue), 16);
  PIN(offsetof(aclrtStreamAttrValue, failureMode), 0);
  PIN(offsetof(aclrtStreamAttrValue, overflowSwitch), 0);
  PIN(offsetof(aclrtStreamAttrValue, userCustomTag), 0);
  PIN(offsetof(aclrtStreamAttrValue, cacheOpInfoSwitch), 0);
  PIN(offsetof(aclrtStreamAttrValue, streamPriority), 0);
  static_assert(std::is_union_v<aclrtStreamAttrValue>);
  static_assert(same<decltype(aclrtStreamAttrValue::failureMode), uint64_t>);
  static_assert(same<decltype(aclrtStreamAttrValue::reserve), uint32_t[4]>);
}

TEST(PackageVersion, R241_FiveHundredTwelveBytes) {
  PIN(sizeof(aclCANNPackageVersion), 512);
  PIN(offsetof(aclCANNPackageVersion, version), 0);
  PIN(offsetof(aclCANNPackageVersion, majorVersion), 128);
  PIN(offsetof(aclCANNPackageVersion, minorVersion), 192);
  PIN(offsetof(aclCANNPackageVersion, releaseVersion), 256);
  PIN(offsetof(aclCANNPackageVersion, patchVersion), 320);
  PIN(offsetof(aclCANNPackageVersion, reserved), 384);
}

TEST(FaultStructures, R270_R271_R272_Layout) {
  PIN(sizeof(aclrtMemUceInfo), 128);
  PIN(offsetof(aclrtMemUceInfo, addr), 0);
  PIN(offsetof(aclrtMemUceInfo, len), 8);
  PIN(offsetof(aclrtMemUceInfo, reserved), 16);
  static_assert(same<decltype(aclrtMemUceInfo::addr), void*>);
  static_assert(same<decltype(aclrtMemUceInfo::reserved), size_t[14]>);
  PIN(sizeof(aclrtMemUceInfoArray), 8 + 20 * 128);
  PIN(offsetof(aclrtMemUceInfoArray, arraySize), 0);
  PIN(offsetof(aclrtMemUceInfoArray, memUceInfoArray), 8);
  static_assert(std::is_union_v<aclrtErrorInfoDetail>);
  PIN(sizeof(aclrtErrorInfoDetail), sizeof(aclrtMemUceInfoArray));
  PIN(offsetof(aclrtErrorInfoDetail, uceInfo), 0);
  PIN(offsetof(aclrtErrorInfoDetail, aicoreErrType), 0);
  PIN(sizeof(aclrtErrorInfo), 8 + sizeof(aclrtErrorInfoDetail));
  PIN(offsetof(aclrtErrorInfo, tryRepair), 0);
  PIN(offsetof(aclrtErrorInfo, hasDetail), 1);
  PIN(offsetof(aclrtErrorInfo, reserved), 2);
  PIN(offsetof(aclrtErrorInfo, errorType), 4);
  PIN(offsetof(aclrtErrorInfo, detail), 8);
  static_assert(same<decltype(aclrtErrorInfo::reserved), uint8_t[2]>);
}

TEST(CountNotifyStructures, R279_R280_R281_Layout) {
  PIN(sizeof(aclrtCntNotifyRecordInfo), 8);
  PIN(offsetof(aclrtCntNotifyRecordInfo, mode), 0);
  PIN(offsetof(aclrtCntNotifyRecordInfo, value), 4);
  static_assert(same<decltype(aclrtCntNotifyRecordInfo::value), uint32_t>);
  PIN(sizeof(aclrtCntNotifyWaitInfo), 16);
  PIN(offsetof(aclrtCntNotifyWaitInfo, mode), 0);
  PIN(offsetof(aclrtCntNotifyWaitInfo, value), 4);
  PIN(offsetof(aclrtCntNotifyWaitInfo, timeout), 8);
  PIN(offsetof(aclrtCntNotifyWaitInfo, isClear), 12);
  PIN(offsetof(aclrtCntNotifyWaitInfo, rev), 13);
  static_assert(same<decltype(aclrtCntNotifyWaitInfo::timeout), uint32_t>);
  static_assert(same<decltype(aclrtCntNotifyWaitInfo::isClear), uint8_t>);
  static_assert(same<decltype(aclrtCntNotifyWaitInfo::rev), uint8_t[3]>);
}

TEST(ServerPid, V4_TwentyFourBytes) {
  PIN(sizeof(aclrtServerPid), 24);
  PIN(offsetof(aclrtServerPid, sdid), 0);
  PIN(offsetof(aclrtServerPid, pid), 8);
  PIN(offsetof(aclrtServerPid, num), 16);
  static_assert(same<decltype(aclrtServerPid::pid), int32_t*>);
}

TEST(PhysicalMemProp, V4_ThirtyTwoBytes) {
  PIN(sizeof(aclrtPhysicalMemProp), 32);
  PIN(alignof(aclrtPhysicalMemProp), 8);
  PIN(offsetof(aclrtPhysicalMemProp, handleType), 0);
  PIN(offsetof(aclrtPhysicalMemProp, allocationType), 4);
  PIN(offsetof(aclrtPhysicalMemProp, memAttr), 8);
  PIN(offsetof(aclrtPhysicalMemProp, location), 12);
  PIN(offsetof(aclrtPhysicalMemProp, reserve), 24);
  static_assert(same<decltype(aclrtPhysicalMemProp::handleType), aclrtMemHandleType>);
  static_assert(same<decltype(aclrtPhysicalMemProp::allocationType), aclrtMemAllocationType>);
  static_assert(same<decltype(aclrtPhysicalMemProp::memAttr), aclrtMemAttr>);
  static_assert(same<decltype(aclrtPhysicalMemProp::location), aclrtMemLocation>);
  static_assert(same<decltype(aclrtPhysicalMemProp::reserve), uint64_t>);
}

TEST(MemAccessDesc, V4_TwentyFourBytes) {
  PIN(sizeof(aclrtMemAccessDesc), 24);
  PIN(offsetof(aclrtMemAccessDesc, flags), 0);
  PIN(offsetof(aclrtMemAccessDesc, location), 4);
  PIN(offsetof(aclrtMemAccessDesc, rsv), 12);
  static_assert(same<decltype(aclrtMemAccessDesc::flags), aclrtMemAccessFlags>);
  static_assert(same<decltype(aclrtMemAccessDesc::location), aclrtMemLocation>);
  static_assert(same<decltype(aclrtMemAccessDesc::rsv), uint8_t[12]>);
}

TEST(ManagedLocation, V4_V5_TheTypeComesFirst) {
  PIN(sizeof(aclrtMemManagedLocation), 8);
  PIN(offsetof(aclrtMemManagedLocation, type), 0);
  PIN(offsetof(aclrtMemManagedLocation, id), 4);
  PIN(offsetof(aclrtMemLocation, id), 0);
  PIN(offsetof(aclrtMemLocation, type), 4);
  static_assert(same<decltype(aclrtMemManagedLocation::type), aclrtMemManagedLocationType>);
  static_assert(same<decltype(aclrtMemManagedLocation::id), int32_t>);
  static_assert(std::is_trivially_copyable_v<aclrtMemManagedLocation>, "it is passed in one register");
}

TEST(FabricHandle, V4_HundredTwentyEightBytes) {
  PIN(sizeof(aclrtMemFabricHandle), 128);
  PIN(alignof(aclrtMemFabricHandle), 1);
  static_assert(same<decltype(aclrtMemFabricHandle::data), uint8_t[128]>);
}

TEST(CacheBarriers, V4_Layout) {
  PIN(sizeof(aclrtBarrierCmoInfo), 8);
  PIN(offsetof(aclrtBarrierCmoInfo, cmoType), 0);
  PIN(offsetof(aclrtBarrierCmoInfo, barrierId), 4);
  static_assert(same<decltype(aclrtBarrierCmoInfo::cmoType), aclrtCmoType>);
  static_assert(same<decltype(aclrtBarrierCmoInfo::barrierId), uint32_t>);
  PIN(sizeof(aclrtBarrierTaskInfo), 56);
  PIN(offsetof(aclrtBarrierTaskInfo, barrierNum), 0);
  PIN(offsetof(aclrtBarrierTaskInfo, cmoInfo), 8);
  static_assert(same<decltype(aclrtBarrierTaskInfo::barrierNum), size_t>);
  static_assert(same<decltype(aclrtBarrierTaskInfo::cmoInfo), aclrtBarrierCmoInfo[6]>);
}

TEST(AttributeMapping, V4_SixteenBytes) {
  PIN(sizeof(struct MemAttrMapping), 16);
  PIN(offsetof(struct MemAttrMapping, pgType), 0);
  PIN(offsetof(struct MemAttrMapping, memType), 4);
  PIN(offsetof(struct MemAttrMapping, isHostAlloc), 8);
  PIN(offsetof(struct MemAttrMapping, memAttr), 12);
  static_assert(same<decltype(MemAttrMapping::pgType), uint32_t>);
  static_assert(same<decltype(MemAttrMapping::isHostAlloc), bool>);
  static_assert(same<decltype(MemAttrMapping::memAttr), aclrtMemAttr>);
}

TEST(IpcEventHandle, SixtyFourBytes) {
  PIN(sizeof(aclrtIpcEventHandle), 64);
  PIN(alignof(aclrtIpcEventHandle), 1);
}

TEST(Handles, R2_V6_AreVoidPointers) {
  static_assert(same<aclError, int>);
  static_assert(same<aclrtStream, void*>);
  static_assert(same<aclrtEvent, void*>);
  static_assert(same<aclrtContext, void*>);
  static_assert(same<aclrtNotify, void*>);
  static_assert(same<aclrtCntNotify, void*>);
  static_assert(same<aclrtDrvMemHandle, void*>);
  static_assert(same<aclrtLabel, void*>);
  static_assert(same<aclrtLabelList, void*>);
  static_assert(same<aclrtMbuf, void*>);
  static_assert(same<aclmdlRITask, void*>);
  static_assert(same<aclrtTaskGrp, void*>);
  static_assert(same<aclFloat16, uint16_t>);
  static_assert(std::is_class_v<aclDataBuffer>);
  PIN(sizeof(aclError), 4);
  PIN(sizeof(aclrtStream), 8);
}

TEST(AllocatorTypes, BlocksAreOpaque) {
  static_assert(same<aclrtAllocatorDesc, void*>);
  static_assert(same<aclrtAllocator, void*>);
  static_assert(same<aclrtAllocatorBlock, void*>);
  static_assert(same<aclrtAllocatorAddr, void*>);
  static_assert(same<aclrtAllocatorAllocFunc, void* (*)(void*, size_t)>);
  static_assert(same<aclrtAllocatorFreeFunc, void (*)(void*, void*)>);
  static_assert(same<aclrtAllocatorAllocAdviseFunc, void* (*)(void*, size_t, void*)>);
  static_assert(same<aclrtAllocatorGetAddrFromBlockFunc, void* (*)(void*)>);
  PIN(sizeof(aclrtAllocatorBlock), 8);
}

TEST(CallbackTypes, R7_DeviceStateCallbackTakesASignedNumber) {
  static_assert(same<aclrtDeviceStateCallback, void (*)(int32_t, aclrtDeviceState, void*)>);
  static_assert(same<aclrtStreamStateCallback, void (*)(aclrtStream, aclrtStreamState, void*)>);
  static_assert(same<aclrtCallback, void (*)(void*)>);
  static_assert(same<aclrtHostFunc, void (*)(void*)>);
  static_assert(same<aclrtExceptionInfoCallback, void (*)(aclrtExceptionInfo*)>);
  static_assert(
      same<aclrtDeviceTaskAbortCallback, int32_t (*)(int32_t, aclrtDeviceTaskAbortStage, uint32_t, void*)>);
  static_assert(same<aclInitCallbackFunc, aclError (*)(const char*, size_t, void*)>);
  static_assert(same<aclFinalizeCallbackFunc, aclError (*)(void*)>);
  PIN(sizeof(aclrtDeviceStateCallback), 8);
}

TEST(MediaTypes, M400_M401_AreFixedWidthIntegers) {
  static_assert(same<hi_s32, int32_t>);
  static_assert(same<hi_u32, uint32_t>);
  static_assert(same<hi_u64, uint64_t>);
  static_assert(same<hi_void, void>);
  PIN(sizeof(hi_u64), 8);
}

// belay's own functions are a promise too.
TEST(OwnStructures, Layout) {
  PIN(sizeof(belayUse), 24);
  PIN(offsetof(belayUse, blocks), 0);
  PIN(offsetof(belayUse, bytes), 8);
  PIN(offsetof(belayUse, peakBytes), 16);
  PIN(sizeof(belayBlock), 40);
  PIN(offsetof(belayBlock, address), 0);
  PIN(offsetof(belayBlock, asked), 8);
  PIN(offsetof(belayBlock, bytes), 16);
  PIN(offsetof(belayBlock, pageSize), 24);
  PIN(offsetof(belayBlock, serial), 32);
  PIN(sizeof(belayFinding), 56);
  PIN(offsetof(belayFinding, id), 0);
  PIN(offsetof(belayFinding, className), 8);
  PIN(offsetof(belayFinding, rule), 16);
  PIN(offsetof(belayFinding, function), 24);
  PIN(offsetof(belayFinding, text), 32);
  PIN(offsetof(belayFinding, count), 40);
  PIN(offsetof(belayFinding, fails), 48);
  PIN(sizeof(belayFrame), 24);
  PIN(offsetof(belayFrame, function), 0);
  PIN(offsetof(belayFrame, file), 8);
  PIN(offsetof(belayFrame, line), 16);
  PIN(BELAY_HOST, -1);
}

}  // namespace
