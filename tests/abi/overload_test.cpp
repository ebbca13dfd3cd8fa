// The C++ overloads: which C function each one calls, and with what. This file
// brings stand-ins for those C functions that write down how they were called.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "acl/acl_rt_api.h"
#include "pin.h"

namespace {

struct Call {
  std::string function;
  const void* first = nullptr;
  const void* second = nullptr;
  const void* config = nullptr;
  std::size_t size = 0;
  long long choice = -1;  // policy, kind, flag or type
  std::size_t attributes = 0;
  std::size_t first_index = 99;
  std::size_t* fail_index = nullptr;
  std::uint32_t destination_id = 0;
  aclrtStream stream = nullptr;
  long long timeout = 0;
  aclrtMemManagedLocation place{};
};

Call last;

constexpr aclError answer = 4242;

}  // namespace

extern "C" {

aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy, aclrtMallocConfig* cfg) {
  last = Call{};
  last.function = "aclrtMallocWithCfg";
  last.first = devPtr;
  last.size = size;
  last.choice = policy;
  last.config = cfg;
  return answer;
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  last = Call{};
  last.function = "aclrtMallocHostWithCfg";
  last.first = ptr;
  last.size = size;
  last.config = cfg;
  return answer;
}

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  last = Call{};
  last.function = "aclrtMalloc";
  last.first = devPtr;
  last.size = size;
  last.choice = policy;
  return answer;
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  last = Call{};
  last.function = "aclrtMallocHost";
  last.first = hostPtr;
  last.size = size;
  return answer;
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  last = Call{};
  last.function = "aclrtPointerGetAttributes";
  last.first = ptr;
  last.second = attributes;
  return answer;
}

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  last = Call{};
  last.function = "aclrtHostRegister";
  last.first = ptr;
  last.second = devPtr;
  last.size = size;
  last.choice = type;
  return answer;
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  last = Call{};
  last.function = "aclrtHostRegisterV2";
  last.first = ptr;
  last.size = size;
  last.choice = flag;
  return answer;
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  last = Call{};
  last.function = "aclrtHostGetDevicePointer";
  last.first = pHost;
  last.second = pDevice;
  last.choice = flag;
  return answer;
}

aclError aclrtHostUnregister(void* ptr) {
  last = Call{};
  last.function = "aclrtHostUnregister";
  last.first = ptr;
  return answer;
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  last = Call{};
  last.function = "aclrtMemcpy";
  last.first = dst;
  last.second = src;
  last.size = destMax * 1000 + count;
  last.choice = kind;
  return answer;
}

aclError aclrtMemcpy2d(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       aclrtMemcpyKind kind) {
  last = Call{};
  last.function = "aclrtMemcpy2d";
  last.first = dst;
  last.second = src;
  last.size = dpitch * 1000 + spitch * 100 + width * 10 + height;
  last.choice = kind;
  return answer;
}

aclError aclrtMemcpyBatch(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                          aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                          size_t* failIndex) {
  last = Call{};
  last.function = "aclrtMemcpyBatch";
  last.first = dsts;
  last.second = srcs;
  last.size = destMaxs[0] * 1000 + sizes[0] * 10 + numBatches;
  last.attributes = numAttrs;
  last.first_index = attrsIndexes[0];
  last.destination_id = attrs[0].dstLoc.id;
  last.fail_index = failIndex;
  return answer;
}

aclError aclrtMemcpyBatchV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                            aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs) {
  last = Call{};
  last.function = "aclrtMemcpyBatchV2";
  last.first = dsts;
  last.second = srcs;
  last.size = destMaxs[0] * 1000 + sizes[0] * 10 + numBatches;
  last.attributes = numAttrs;
  last.first_index = attrsIndexes[0];
  last.destination_id = attrs[0].dstLoc.id;
  return answer;
}

aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag) {
  last = Call{};
  last.function = "aclrtMemAllocManaged";
  last.first = ptr;
  last.size = size;
  last.choice = flag;
  return answer;
}

aclError aclrtMemManagedPrefetchAsync(const void* ptr, size_t size, aclrtMemManagedLocation location,
                                      uint32_t flags, aclrtStream stream) {
  last = Call{};
  last.function = "aclrtMemManagedPrefetchAsync";
  last.first = ptr;
  last.size = size;
  last.place = location;
  last.choice = flags;
  last.stream = stream;
  return answer;
}

aclError aclrtMemManagedPrefetchBatchAsync(const void** ptrs, size_t* sizes, size_t count,
                                           aclrtMemManagedLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                           size_t numPrefetchLocs, uint64_t flags, aclrtStream stream) {
  last = Call{};
  last.function = "aclrtMemManagedPrefetchBatchAsync";
  last.first = ptrs;
  last.second = sizes;
  last.size = count;
  last.place = prefetchLocs[0];
  last.first_index = prefetchLocIdxs[0];
  last.attributes = numPrefetchLocs;
  last.choice = static_cast<long long>(flags);
  last.stream = stream;
  return answer;
}

aclError aclrtSynchronizeDevice(void) {
  last = Call{};
  last.function = "aclrtSynchronizeDevice";
  return answer;
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  last = Call{};
  last.function = "aclrtSynchronizeDeviceWithTimeout";
  last.timeout = timeout;
  return answer;
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  last = Call{};
  last.function = "aclrtSynchronizeStream";
  last.stream = stream;
  return answer;
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  last = Call{};
  last.function = "aclrtSynchronizeStreamWithTimeout";
  last.stream = stream;
  last.timeout = timeout;
  return answer;
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  last = Call{};
  last.function = "aclrtSynchronizeEvent";
  last.first = event;
  return answer;
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  last = Call{};
  last.function = "aclrtSynchronizeEventWithTimeout";
  last.first = event;
  last.timeout = timeout;
  return answer;
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  last = Call{};
  last.function = "aclrtStreamWaitEvent";
  last.stream = stream;
  last.first = event;
  return answer;
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  last = Call{};
  last.function = "aclrtStreamWaitEventWithTimeout";
  last.stream = stream;
  last.first = event;
  last.timeout = timeout;
  return answer;
}

aclError aclrtCreateStream(aclrtStream* stream) {
  last = Call{};
  last.function = "aclrtCreateStream";
  last.first = stream;
  return answer;
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  last = Call{};
  last.function = "aclrtCreateStreamWithConfig";
  last.first = stream;
  last.size = priority;
  last.choice = flag;
  return answer;
}

aclError aclrtCreateEvent(aclrtEvent* event) {
  last = Call{};
  last.function = "aclrtCreateEvent";
  last.first = event;
  return answer;
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  last = Call{};
  last.function = "aclrtCreateEventExWithFlag";
  last.first = event;
  last.choice = flag;
  return answer;
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  last = Call{};
  last.function = "aclrtSetOpExecuteTimeOut";
  last.timeout = timeout;
  return answer;
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  last = Call{};
  last.function = "aclrtSetOpExecuteTimeOutV2";
  last.timeout = static_cast<long long>(timeout);
  last.first = actualTimeout;
  return answer;
}

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  last = Call{};
  last.function = "aclrtMemcpyAsync";
  last.first = dst;
  last.second = src;
  last.size = destMax * 1000 + count;
  last.choice = kind;
  last.stream = stream;
  return answer;
}

aclError aclrtMemcpy2dAsync(void* dst, size_t dpitch, const void* src, size_t spitch, size_t width,
                            size_t height, aclrtMemcpyKind kind, aclrtStream stream) {
  last = Call{};
  last.function = "aclrtMemcpy2dAsync";
  last.first = dst;
  last.second = src;
  last.size = dpitch * 1000 + spitch * 100 + width * 10 + height;
  last.choice = kind;
  last.stream = stream;
  return answer;
}

aclError aclrtMemcpyBatchAsync(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                               aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                               size_t* failIndex, aclrtStream stream) {
  aclrtMemcpyBatch(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs, failIndex);
  last.function = "aclrtMemcpyBatchAsync";
  last.stream = stream;
  return answer;
}

aclError aclrtMemcpyBatchAsyncV2(void** dsts, size_t* destMaxs, void** srcs, size_t* sizes, size_t numBatches,
                                 aclrtMemcpyBatchAttr* attrs, size_t* attrsIndexes, size_t numAttrs,
                                 aclrtStream stream) {
  aclrtMemcpyBatchV2(dsts, destMaxs, srcs, sizes, numBatches, attrs, attrsIndexes, numAttrs);
  last.function = "aclrtMemcpyBatchAsyncV2";
  last.stream = stream;
  return answer;
}

}  // extern "C"

namespace {

// Handles that lead nowhere; only their values are looked at.
int somewhere[2] = {};
const aclrtStream a_stream = &somewhere[0];
const aclrtEvent an_event = &somewhere[1];

TEST(TypedMalloc, M413_WithoutPolicyIsHugeFirstThroughWithCfg) {
  float* typed = nullptr;
  EXPECT_EQ(aclrtMalloc(&typed, 100), answer);
  EXPECT_EQ(last.function, "aclrtMallocWithCfg");
  EXPECT_EQ(last.first, &typed);
  EXPECT_EQ(last.size, 100U);
  EXPECT_EQ(last.choice, ACL_MEM_MALLOC_HUGE_FIRST);
  EXPECT_EQ(last.config, nullptr);

  aclrtMallocConfig config{nullptr, 0};
  EXPECT_EQ(aclrtMalloc(&typed, 200, &config), answer);
  EXPECT_EQ(last.function, "aclrtMallocWithCfg");
  EXPECT_EQ(last.choice, ACL_MEM_MALLOC_HUGE_FIRST);
  EXPECT_EQ(last.config, &config);
}

TEST(TypedMalloc, M413_WithPolicyKeepsItThroughWithCfg) {
  int* typed = nullptr;
  EXPECT_EQ(aclrtMalloc(&typed, 300, ACL_MEM_MALLOC_NORMAL_ONLY), answer);
  EXPECT_EQ(last.function, "aclrtMallocWithCfg");
  EXPECT_EQ(last.first, &typed);
  EXPECT_EQ(last.size, 300U);
  EXPECT_EQ(last.choice, ACL_MEM_MALLOC_NORMAL_ONLY);
  EXPECT_EQ(last.config, nullptr);

  aclrtMallocConfig config{nullptr, 0};
  EXPECT_EQ(aclrtMalloc<int>(&typed, 300, ACL_MEM_MALLOC_HUGE1G_ONLY, &config), answer);
  EXPECT_EQ(last.function, "aclrtMallocWithCfg");
  EXPECT_EQ(last.choice, ACL_MEM_MALLOC_HUGE1G_ONLY);
  EXPECT_EQ(last.config, &config);
}

TEST(TypedMalloc, M413_M414_UntypedPointersStillReachTheCFunctions) {
  void* untyped = nullptr;
  EXPECT_EQ(aclrtMalloc(&untyped, 8, ACL_MEM_MALLOC_HUGE_ONLY), answer);
  EXPECT_EQ(last.function, "aclrtMalloc");
  EXPECT_EQ(aclrtMallocHost(&untyped, 8), answer);
  EXPECT_EQ(last.function, "aclrtMallocHost");
}

TEST(TypedMalloc, M413_ReturnsAclError) {
  static_assert(std::is_same_v<decltype(aclrtMalloc(static_cast<float**>(nullptr), 1)), aclError>);
  static_assert(
      std::is_same_v<decltype(aclrtMalloc(static_cast<float**>(nullptr), 1, ACL_MEM_MALLOC_HUGE_ONLY)),
                     aclError>);
  constexpr aclError (*short_form)(double**, size_t, aclrtMallocConfig*) = &aclrtMalloc<double>;
  constexpr aclError (*long_form)(double**, size_t, aclrtMemMallocPolicy, aclrtMallocConfig*) =
      &aclrtMalloc<double>;
  EXPECT_NE(short_form, nullptr);
  EXPECT_NE(long_form, nullptr);
}

TEST(TypedMallocHost, M414_GoesThroughHostWithCfg) {
  char* typed = nullptr;
  EXPECT_EQ(aclrtMallocHost(&typed, 64), answer);
  EXPECT_EQ(last.function, "aclrtMallocHostWithCfg");
  EXPECT_EQ(last.first, &typed);
  EXPECT_EQ(last.size, 64U);
  EXPECT_EQ(last.config, nullptr);

  aclrtMallocConfig config{nullptr, 0};
  EXPECT_EQ(aclrtMallocHost(&typed, 65, &config), answer);
  EXPECT_EQ(last.config, &config);
}

TEST(TypedQuery, R6_V8_PassesTheAddressOn) {
  const int value = 1;
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(&value, &attributes), answer);
  EXPECT_EQ(last.function, "aclrtPointerGetAttributes");
  EXPECT_EQ(last.first, &value);
  EXPECT_EQ(last.second, &attributes);
}

TEST(TypedManaged, V8_TheFlagIsGlobalUnlessSaid) {
  float* typed = nullptr;
  EXPECT_EQ(aclrtMemAllocManaged(&typed, 100), answer);
  EXPECT_EQ(last.function, "aclrtMemAllocManaged");
  EXPECT_EQ(last.first, &typed);
  EXPECT_EQ(last.size, 100U);
  EXPECT_EQ(last.choice, ACL_RT_MEM_ATTACH_GLOBAL);
  EXPECT_EQ(aclrtMemAllocManaged(&typed, 100, 7), answer);
  EXPECT_EQ(last.choice, 7);
  void* untyped = nullptr;
  EXPECT_EQ(aclrtMemAllocManaged(&untyped, 9, 1), answer);
  EXPECT_EQ(last.size, 9U);
}

TEST(TypedManaged, V8_V5_APrefetchPassesItsPlaceOn) {
  const int value[2] = {};
  const aclrtMemManagedLocation place{ACL_MEM_LOCATIONTYPE_HOST_NUMA, -5};
  EXPECT_EQ(aclrtMemManagedPrefetchAsync(&value[1], 4, place, 3, a_stream), answer);
  EXPECT_EQ(last.function, "aclrtMemManagedPrefetchAsync");
  EXPECT_EQ(last.first, &value[1]);
  EXPECT_EQ(last.size, 4U);
  EXPECT_EQ(last.place.type, ACL_MEM_LOCATIONTYPE_HOST_NUMA);
  EXPECT_EQ(last.place.id, -5);
  EXPECT_EQ(last.choice, 3);
  EXPECT_EQ(last.stream, a_stream);
}

TEST(TypedManaged, V8_ABatchHasOnePlaceForAll_OrAListOfThem) {
  const int value = 0;
  const int* pointers[2] = {&value, &value};
  std::size_t sizes[2] = {4, 8}, index = 1;
  aclrtMemManagedLocation place{ACL_MEM_LOCATIONTYPE_DEVICE, 2};
  EXPECT_EQ(aclrtMemManagedPrefetchBatchAsync(pointers, sizes, 2, place, 5, a_stream), answer);
  EXPECT_EQ(last.function, "aclrtMemManagedPrefetchBatchAsync");
  EXPECT_EQ(last.first, pointers);
  EXPECT_EQ(last.second, sizes);
  EXPECT_EQ(last.size, 2U);
  EXPECT_EQ(last.attributes, 1U);
  EXPECT_EQ(last.first_index, 0U);
  EXPECT_EQ(last.place.id, 2);
  EXPECT_EQ(last.choice, 5);
  EXPECT_EQ(last.stream, a_stream);
  place.id = 3;
  EXPECT_EQ(aclrtMemManagedPrefetchBatchAsync(pointers, sizes, 2, &place, &index, 9, 6, a_stream), answer);
  EXPECT_EQ(last.attributes, 9U);
  EXPECT_EQ(last.first_index, 1U);
  EXPECT_EQ(last.place.id, 3);
  EXPECT_EQ(last.choice, 6);
}

TEST(TypedHostRegister, M414_ThreeArgumentsGoToV2) {
  int host[4] = {};
  EXPECT_EQ(aclrtHostRegister(&host[0], sizeof host, static_cast<uint32_t>(ACL_HOST_REG_MAPPED)), answer);
  EXPECT_EQ(last.function, "aclrtHostRegisterV2");
  EXPECT_EQ(last.first, &host[0]);
  EXPECT_EQ(last.size, sizeof host);
  EXPECT_EQ(last.choice, 2);
}

TEST(TypedHostRegister, R6_FourArgumentsGoToTheFirstVersion) {
  int host[4] = {};
  int* device = nullptr;
  EXPECT_EQ(aclrtHostRegister(&host[0], sizeof host, ACL_HOST_REGISTER_MAPPED, &device), answer);
  EXPECT_EQ(last.function, "aclrtHostRegister");
  EXPECT_EQ(last.first, &host[0]);
  EXPECT_EQ(last.second, &device);
  EXPECT_EQ(last.choice, ACL_HOST_REGISTER_MAPPED);

  EXPECT_EQ(aclrtHostGetDevicePointer(&host[0], &device, 0), answer);
  EXPECT_EQ(last.function, "aclrtHostGetDevicePointer");
  EXPECT_EQ(last.second, &device);

  EXPECT_EQ(aclrtHostUnregister(&host[0]), answer);
  EXPECT_EQ(last.function, "aclrtHostUnregister");
  EXPECT_EQ(last.first, &host[0]);
}

TEST(TypedCopy, R6_M414_SizesStayInBytes) {
  float to[2] = {};
  const double from[2] = {};
  EXPECT_EQ(aclrtMemcpy(&to[0], 8, &from[0], 7, ACL_MEMCPY_DEFAULT), answer);
  EXPECT_EQ(last.function, "aclrtMemcpy");
  EXPECT_EQ(last.first, &to[0]);
  EXPECT_EQ(last.second, &from[0]);
  EXPECT_EQ(last.size, 8007U);
  EXPECT_EQ(last.choice, ACL_MEMCPY_DEFAULT);

  EXPECT_EQ(aclrtMemcpy2d(&to[0], 4, &from[0], 3, 2, 1, ACL_MEMCPY_DEVICE_TO_HOST), answer);
  EXPECT_EQ(last.function, "aclrtMemcpy2d");
  EXPECT_EQ(last.size, 4321U);
  EXPECT_EQ(last.choice, ACL_MEMCPY_DEVICE_TO_HOST);
}

TEST(TypedCopy, R6_M414_QueuedOnesPassTheStreamOn) {
  float to[2] = {};
  const double from[2] = {};
  EXPECT_EQ(aclrtMemcpyAsync(&to[0], 8, &from[0], 7, ACL_MEMCPY_DEFAULT, a_stream), answer);
  EXPECT_EQ(last.function, "aclrtMemcpyAsync");
  EXPECT_EQ(last.first, &to[0]);
  EXPECT_EQ(last.second, &from[0]);
  EXPECT_EQ(last.size, 8007U) << "sizes are in bytes";
  EXPECT_EQ(last.choice, ACL_MEMCPY_DEFAULT);
  EXPECT_EQ(last.stream, a_stream);
  EXPECT_EQ(aclrtMemcpyAsync(&to[0], 8, &from[0], 7, ACL_MEMCPY_DEFAULT, nullptr), answer);
  EXPECT_EQ(last.stream, nullptr);

  EXPECT_EQ(aclrtMemcpy2dAsync(&to[0], 4, &from[0], 3, 2, 1, ACL_MEMCPY_DEVICE_TO_HOST, a_stream), answer);
  EXPECT_EQ(last.function, "aclrtMemcpy2dAsync");
  EXPECT_EQ(last.first, &to[0]);
  EXPECT_EQ(last.second, &from[0]);
  EXPECT_EQ(last.size, 4321U);
  EXPECT_EQ(last.choice, ACL_MEMCPY_DEVICE_TO_HOST);
  EXPECT_EQ(last.stream, a_stream);
}

TEST(Waiting, R6_WithATimeoutGoesToTheWithTimeoutFunctions) {
  EXPECT_EQ(aclrtSynchronizeDevice(11), answer);
  EXPECT_EQ(last.function, "aclrtSynchronizeDeviceWithTimeout");
  EXPECT_EQ(last.timeout, 11);

  EXPECT_EQ(aclrtSynchronizeStream(a_stream, -1), answer);
  EXPECT_EQ(last.function, "aclrtSynchronizeStreamWithTimeout");
  EXPECT_EQ(last.stream, a_stream);
  EXPECT_EQ(last.timeout, -1);

  EXPECT_EQ(aclrtSynchronizeEvent(an_event, 13), answer);
  EXPECT_EQ(last.function, "aclrtSynchronizeEventWithTimeout");
  EXPECT_EQ(last.first, an_event);
  EXPECT_EQ(last.timeout, 13);

  EXPECT_EQ(aclrtStreamWaitEvent(a_stream, an_event, 14), answer);
  EXPECT_EQ(last.function, "aclrtStreamWaitEventWithTimeout");
  EXPECT_EQ(last.stream, a_stream);
  EXPECT_EQ(last.first, an_event);
  EXPECT_EQ(last.timeout, 14);
}

TEST(Waiting, R6_WithoutATimeoutStillReachesTheCFunctions) {
  EXPECT_EQ(aclrtSynchronizeDevice(), answer);
  EXPECT_EQ(last.function, "aclrtSynchronizeDevice");
  EXPECT_EQ(aclrtSynchronizeStream(a_stream), answer);
  EXPECT_EQ(last.function, "aclrtSynchronizeStream");
  EXPECT_EQ(aclrtSynchronizeEvent(an_event), answer);
  EXPECT_EQ(last.function, "aclrtSynchronizeEvent");
  EXPECT_EQ(aclrtStreamWaitEvent(a_stream, an_event), answer);
  EXPECT_EQ(last.function, "aclrtStreamWaitEvent");
}

TEST(Making, R6_AStreamWithPriorityAndFlagsGoesToWithConfig) {
  aclrtStream stream = nullptr;
  EXPECT_EQ(aclrtCreateStream(&stream, 3, ACL_STREAM_FAST_SYNC), answer);
  EXPECT_EQ(last.function, "aclrtCreateStreamWithConfig");
  EXPECT_EQ(last.first, &stream);
  EXPECT_EQ(last.size, 3U);
  EXPECT_EQ(last.choice, ACL_STREAM_FAST_SYNC);
  EXPECT_EQ(aclrtCreateStream(&stream), answer);
  EXPECT_EQ(last.function, "aclrtCreateStream");
}

TEST(Making, R6_AnEventWithAFlagGoesToTheExCreator) {
  aclrtEvent event = nullptr;
  EXPECT_EQ(aclrtCreateEvent(&event, ACL_EVENT_TIME_LINE), answer);
  EXPECT_EQ(last.function, "aclrtCreateEventExWithFlag");
  EXPECT_EQ(last.first, &event);
  EXPECT_EQ(last.choice, ACL_EVENT_TIME_LINE);
  EXPECT_EQ(aclrtCreateEvent(&event), answer);
  EXPECT_EQ(last.function, "aclrtCreateEvent");
}

TEST(OperatorTimeout, R6_TwoArgumentsGoToV2) {
  uint64_t actual = 0;
  EXPECT_EQ(aclrtSetOpExecuteTimeOut(5000000000U, &actual), answer);
  EXPECT_EQ(last.function, "aclrtSetOpExecuteTimeOutV2");
  EXPECT_EQ(last.timeout, 5000000000) << "64 bits arrive";
  EXPECT_EQ(last.first, &actual);
  EXPECT_EQ(aclrtSetOpExecuteTimeOut(7), answer);
  EXPECT_EQ(last.function, "aclrtSetOpExecuteTimeOut");
}

class TypedBatch : public ::testing::Test {
 protected:
  TypedBatch() { attribute.dstLoc.id = 5; }

  float to = 0;
  double from = 0;
  float* dsts[1] = {&to};
  double* srcs[1] = {&from};
  size_t room[1] = {9};
  size_t sizes[1] = {4};
  size_t indexes[1] = {0};
  size_t fail = 0;
  aclrtMemcpyBatchAttr attribute{};
};

TEST_F(TypedBatch, M414_WithoutFailIndexGoesToV2) {
  EXPECT_EQ(aclrtMemcpyBatch(dsts, room, srcs, sizes, 1, &attribute, indexes, 1), answer);
  EXPECT_EQ(last.function, "aclrtMemcpyBatchV2");
  EXPECT_EQ(last.first, &dsts[0]);
  EXPECT_EQ(last.second, &srcs[0]);
  EXPECT_EQ(last.size, 9041U);
  EXPECT_EQ(last.attributes, 1U);

  EXPECT_EQ(aclrtMemcpyBatch(dsts, room, srcs, sizes, 1, attribute), answer);
  EXPECT_EQ(last.function, "aclrtMemcpyBatchV2");
  EXPECT_EQ(last.size, 9041U);
  EXPECT_EQ(last.attributes, 1U);
  EXPECT_EQ(last.first_index, 0U);
  EXPECT_EQ(last.destination_id, 5U);
}

TEST_F(TypedBatch, M414_WithFailIndexPassesItToTheOlderFunction) {
  EXPECT_EQ(aclrtMemcpyBatch(dsts, room, srcs, sizes, 1, &attribute, indexes, 1, &fail), answer);
  EXPECT_EQ(last.function, "aclrtMemcpyBatch");
  EXPECT_EQ(last.fail_index, &fail);
  EXPECT_EQ(last.first, &dsts[0]);

  EXPECT_EQ(aclrtMemcpyBatch(dsts, room, srcs, sizes, 1, attribute, &fail), answer);
  EXPECT_EQ(last.function, "aclrtMemcpyBatch");
  EXPECT_EQ(last.fail_index, &fail);
  EXPECT_EQ(last.attributes, 1U);
  EXPECT_EQ(last.first_index, 0U);
  EXPECT_EQ(last.destination_id, 5U);
}

TEST_F(TypedBatch, M414_QueuedWithoutFailIndexGoesToV2) {
  EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, room, srcs, sizes, 1, &attribute, indexes, 1, a_stream), answer);
  EXPECT_EQ(last.function, "aclrtMemcpyBatchAsyncV2");
  EXPECT_EQ(last.first, &dsts[0]);
  EXPECT_EQ(last.second, &srcs[0]);
  EXPECT_EQ(last.size, 9041U);
  EXPECT_EQ(last.attributes, 1U);
  EXPECT_EQ(last.stream, a_stream);

  EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, room, srcs, sizes, 1, attribute, a_stream), answer);
  EXPECT_EQ(last.function, "aclrtMemcpyBatchAsyncV2");
  EXPECT_EQ(last.size, 9041U);
  EXPECT_EQ(last.attributes, 1U);
  EXPECT_EQ(last.first_index, 0U);
  EXPECT_EQ(last.destination_id, 5U);
  EXPECT_EQ(last.stream, a_stream);
  EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, room, srcs, sizes, 1, attribute, nullptr), answer);
  EXPECT_EQ(last.function, "aclrtMemcpyBatchAsyncV2");
  EXPECT_EQ(last.stream, nullptr);
}

TEST_F(TypedBatch, M414_QueuedWithFailIndexPassesItToTheOlderFunction) {
  EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, room, srcs, sizes, 1, &attribute, indexes, 1, &fail, a_stream),
            answer);
  EXPECT_EQ(last.function, "aclrtMemcpyBatchAsync");
  EXPECT_EQ(last.fail_index, &fail);
  EXPECT_EQ(last.first, &dsts[0]);
  EXPECT_EQ(last.stream, a_stream);

  EXPECT_EQ(aclrtMemcpyBatchAsync(dsts, room, srcs, sizes, 1, attribute, &fail, a_stream), answer);
  EXPECT_EQ(last.function, "aclrtMemcpyBatchAsync");
  EXPECT_EQ(last.fail_index, &fail);
  EXPECT_EQ(last.attributes, 1U);
  EXPECT_EQ(last.first_index, 0U);
  EXPECT_EQ(last.destination_id, 5U);
  EXPECT_EQ(last.stream, a_stream);
}

}  // namespace
