// The typed C++ overloads of acl/acl_rt_api.h: which C function answers, seen from outside.
#include "acl/acl_rt_api.h"

#include "support/batch.h"

namespace cxx_overloads_test {

using namespace belay_test;

class CxxOverloads : public OnDevice {
 protected:
  std::size_t taken() const { return free_before_ - free_bytes(); }
};

TEST_F(CxxOverloads, M413_TypedMalloc_LosesThe32Bytes) {
  float* typed = nullptr;
  void* plain = nullptr;
  ASSERT_EQ(aclrtMalloc(&typed, 2 * kMB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
  EXPECT_EQ(taken(), 2 * kMB);
  EXPECT_EQ(aclrtFree(typed), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&plain, 2 * kMB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
  EXPECT_EQ(taken(), 4 * kMB) << "the C function keeps them";
  EXPECT_EQ(aclrtFree(plain), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&typed, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  EXPECT_EQ(taken(), 4096U) << "sizes are in bytes";
  EXPECT_EQ(aclrtFree(typed), ACL_SUCCESS);
}

TEST_F(CxxOverloads, M413_WithoutAPolicy_ItIsHugeFirst) {
  double* typed = nullptr;
  ASSERT_EQ(aclrtMalloc(&typed, kMB), ACL_SUCCESS);
  EXPECT_EQ(taken(), kMB);
  EXPECT_EQ(page_of(typed), 4096U);
  EXPECT_EQ(aclrtFree(typed), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&typed, kMB + 1), ACL_SUCCESS);
  EXPECT_EQ(taken(), 2 * kMB);
  EXPECT_EQ(page_of(typed), 2 * kMB);
  EXPECT_EQ(aclrtFree(typed), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&typed, 2 * kMB), ACL_SUCCESS);
  EXPECT_EQ(taken(), 2 * kMB);
  EXPECT_EQ(aclrtFree(typed), ACL_SUCCESS);
}

TEST_F(CxxOverloads, M413_AnswersAreThoseOfWithCfg) {
  int* typed = nullptr;
  aclrtMallocConfig empty{nullptr, 0};
  EXPECT_EQ(aclrtMalloc(&typed, 64, ACL_MEM_MALLOC_NORMAL_ONLY, &empty), kBadValue);
  EXPECT_EQ(aclrtMalloc(&typed, 64, &empty), kBadValue);
  EXPECT_EQ(aclrtMalloc(&typed, std::numeric_limits<std::size_t>::max(), ACL_MEM_MALLOC_NORMAL_ONLY),
            kBadValue)
      << "aclrtMalloc of C answers 100000";
  EXPECT_EQ(aclrtMalloc(&typed, 0), kBadArgument);
  EXPECT_EQ(aclrtMalloc(static_cast<int**>(nullptr), 64), kBadArgument);
  aclrtMallocAttribute other{};
  other.attr = ACL_RT_MEM_ATTR_DEVICE_ID;
  other.value.deviceId = 1;
  aclrtMallocConfig elsewhere{&other, 1};
  EXPECT_EQ(aclrtMalloc(&typed, 64, &elsewhere), kBadValue) << "the configuration is passed on";
  other.value.deviceId = 0;
  ASSERT_EQ(aclrtMalloc(&typed, 64, &elsewhere), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(typed), ACL_SUCCESS);
}

TEST_F(CxxOverloads, M414_TypedMallocHost_CallsTheOneWithConfiguration) {
  std::uint16_t* typed = nullptr;
  ASSERT_EQ(aclrtMallocHost(&typed, 100), ACL_SUCCESS);
  typed[49] = 7;
  EXPECT_EQ(aclrtFreeHost(typed), ACL_SUCCESS);
  aclrtMallocConfig empty{nullptr, 0};
  EXPECT_EQ(aclrtMallocHost(&typed, 100, &empty), kBadValue);
  aclrtMallocAttribute unified{};
  unified.attr = ACL_RT_MEM_ATTR_VA_FLAG;
  unified.value.vaFlag = 1;
  aclrtMallocConfig config{&unified, 1};
  ASSERT_EQ(aclrtMallocHost(&typed, 4096, &config), ACL_SUCCESS);
  std::uint16_t* address = nullptr;
  ASSERT_EQ(aclrtHostRegister(typed, 4096, ACL_HOST_REGISTER_MAPPED, &address), ACL_SUCCESS);
  EXPECT_EQ(address, typed) << "the configuration is passed on";
  EXPECT_EQ(aclrtHostUnregister(typed), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(typed), ACL_SUCCESS);
}

TEST_F(CxxOverloads, M414_TypedHostRegisterWithFlags_CallsV2) {
  Pages memory{1};
  int* const typed = static_cast<int*>(memory.get());
  EXPECT_EQ(aclrtHostRegister(typed, 4096, 0U), kBadValue) << "V2 refuses flag 0";
  EXPECT_EQ(aclrtHostRegister(typed, 4096, 1U), kBadValue) << "the older function would answer 207000";
  ASSERT_EQ(aclrtHostRegister(typed, 4096, static_cast<std::uint32_t>(ACL_HOST_REG_MAPPED)), ACL_SUCCESS);
  int* address = nullptr;
  EXPECT_EQ(aclrtHostGetDevicePointer(typed, &address, 0), ACL_SUCCESS);
  EXPECT_NE(address, nullptr);
  EXPECT_EQ(aclrtHostUnregister(typed), ACL_SUCCESS);
  ASSERT_EQ(aclrtHostRegister(typed, 4096, static_cast<std::uint32_t>(ACL_HOST_REG_PINNED)), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostGetDevicePointer(typed, &address, 0), kBadValue);
  EXPECT_EQ(aclrtHostUnregister(typed), ACL_SUCCESS);
}

TEST_F(CxxOverloads, M414_TypedBatch_WithAndWithoutFailIndex) {
  std::uint32_t* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 8), ACL_SUCCESS);
  std::uint32_t values[2] = {0x11223344, 0x55667788};
  std::uint32_t* dsts[2] = {device, device + 1};
  std::uint32_t* srcs[2] = {values, values + 1};
  std::size_t sizes[2] = {4, 4}, rooms[2] = {4, 4}, starts[1] = {0};
  aclrtMemcpyBatchAttr up = host_to_device();
  std::size_t fail = kUnset;
  EXPECT_EQ(aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, &up, starts, 1, &fail), ACL_SUCCESS);
  EXPECT_EQ(fail, kNoItem);
  std::uint32_t back[2] = {0, 0};
  EXPECT_EQ(aclrtMemcpy(back, 8, device, 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(back[0], values[0]);
  EXPECT_EQ(back[1], values[1]);
  values[0] = 1;
  EXPECT_EQ(aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, &up, starts, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(back, 8, device, 8, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(back[0], 1U);
  // The item to blame comes through, and a NULL fail index is refused only where there is one.
  srcs[1] = device;
  fail = kUnset;
  EXPECT_EQ(aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, &up, starts, 1, &fail), kBadValue);
  EXPECT_EQ(fail, 1U);
  EXPECT_EQ(aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, &up, starts, 1), kBadValue);
  EXPECT_EQ(aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, &up, starts, 1, static_cast<std::size_t*>(nullptr)),
            kBadArgument);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(CxxOverloads, M414_OneAttributeForTheWholeBatch) {
  char* device = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 2), ACL_SUCCESS);
  char values[2] = {'a', 'b'};
  char* dsts[2] = {device, device + 1};
  char* srcs[2] = {values, values + 1};
  std::size_t sizes[2] = {1, 1}, rooms[2] = {1, 1}, fail = kUnset;
  EXPECT_EQ(aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, host_to_device(), &fail), ACL_SUCCESS);
  EXPECT_EQ(fail, kNoItem);
  EXPECT_EQ(aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, device_to_host(), &fail), kBadValue);
  EXPECT_EQ(fail, 0U);
  EXPECT_EQ(aclrtMemcpyBatch(dsts, rooms, srcs, sizes, 2, host_to_device()), ACL_SUCCESS);
  EXPECT_EQ(read_from(device, 2), (Bytes{'a', 'b'}));
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(CxxOverloads, R6_WaitingWithATimeout_HasTheChecksOfTheCFunctions) {
  EXPECT_EQ(aclrtSynchronizeDevice(0), kBadValue);
  EXPECT_EQ(aclrtSynchronizeDevice(1000), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr, 0), kBadValue);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr, 1000), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(nullptr, 0), kBadValue) << "the timeout is looked at before the event";
  EXPECT_EQ(aclrtSynchronizeEvent(nullptr, 1), kBadArgument);
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(nullptr, event, -1), kBadValue);
  EXPECT_EQ(aclrtStreamWaitEvent(nullptr, event, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr, -1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event, -1), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(CxxOverloads, R6_AStreamWithPriorityAndFlags) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream, 3, ACL_STREAM_FAST_LAUNCH), ACL_SUCCESS);
  std::uint32_t priority = 99, flags = 99;
  EXPECT_EQ(aclrtStreamGetPriority(stream, &priority), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetFlags(stream, &flags), ACL_SUCCESS);
  EXPECT_EQ(priority, 3U);
  EXPECT_EQ(flags, ACL_STREAM_FAST_LAUNCH);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(CxxOverloads, R6_AnEventWithAFlagIsAnExEvent) {
  aclrtEvent with_flag = nullptr, plain = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&with_flag, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEvent(&plain), ACL_SUCCESS);
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_EQ(aclrtQueryEventStatus(with_flag, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtResetEvent(with_flag, nullptr), kUnsupported);
  EXPECT_EQ(aclrtQueryEventStatus(plain, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_RECORDED_STATUS_NOT_READY) << "the C function makes another kind";
  EXPECT_EQ(aclrtDestroyEvent(with_flag), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(plain), ACL_SUCCESS);
}

TEST_F(CxxOverloads, R6_TheOperatorTimeoutAnswersWhatResults) {
  std::uint64_t interval = 0, actual = 0;
  ASSERT_EQ(aclrtGetOpTimeOutInterval(&interval), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetOpExecuteTimeOut(1, &actual), ACL_SUCCESS);
  EXPECT_EQ(actual, interval);
  EXPECT_EQ(aclrtSetOpExecuteTimeOut(1, nullptr), kBadArgument);
  EXPECT_EQ(aclrtSetOpExecuteTimeOut(1), ACL_SUCCESS);
}

TEST_F(CxxOverloads, M414_TypedCopiesOnAStream) {
  std::uint32_t *device = nullptr, *host = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 8), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&host, 16), ACL_SUCCESS);
  host[0] = 0x11223344;
  host[1] = 0x55667788;
  EXPECT_EQ(aclrtMemcpyAsync(device, 8, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy2dAsync(host + 2, 4, device, 4, 4, 2, ACL_MEMCPY_DEVICE_TO_HOST, nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(host[2], host[0]);
  EXPECT_EQ(host[3], host[1]);
  EXPECT_EQ(aclrtMemcpyAsync(device, 7, host, 8, ACL_MEMCPY_HOST_TO_DEVICE, nullptr), kBadValue)
      << "sizes are in bytes";
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

TEST_F(CxxOverloads, M414_TypedBatchOnAStream_WithAndWithoutFailIndex) {
  char *device = nullptr, *host = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 2), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&host, 2), ACL_SUCCESS);
  host[0] = 'a';
  host[1] = 'b';
  char* dsts[2] = {device, device + 1};
  char* srcs[2] = {host, host + 1};
  std::size_t sizes[2] = {1, 1}, rooms[2] = {1, 1}, starts[1] = {0}, fail = kUnset;
  aclrtMemcpyBatchAttr up = host_to_device();
  EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, rooms, srcs, sizes, 2, &up, starts, 1, &fail, nullptr), ACL_SUCCESS);
  EXPECT_EQ(fail, kNoItem);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(read_from(device, 2), (Bytes{'a', 'b'}));
  host[0] = 'c';
  EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, rooms, srcs, sizes, 2, &up, starts, 1, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(read_from(device, 2), (Bytes{'c', 'b'}));
  host[1] = 'd';
  EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, rooms, srcs, sizes, 2, up, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(read_from(device, 2), (Bytes{'c', 'd'}));
  fail = kUnset;
  EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, rooms, srcs, sizes, 2, device_to_host(), &fail, nullptr), kBadValue);
  EXPECT_EQ(fail, 0U);
  EXPECT_EQ(aclrtFreeHost(host), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
}

}  // namespace cxx_overloads_test
