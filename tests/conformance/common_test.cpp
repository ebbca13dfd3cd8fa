// What holds for every function: two layers, no aclInit, contexts, zero lengths, outputs, last error,
// products.
#include <cstdio>
#include <string>

#include "acl/ops/acl_dvpp.h"
#include "support/allocators.h"
#include "support/fresh_process.h"

namespace common_test {

using namespace belay_test;

class Common : public OnDevice {};

aclError last_error() { return aclrtGetLastError(ACL_RT_THREAD_LEVEL); }

TEST_F(Common, M1_SameMistakeHasTheNumberOfTheLayerThatLooksFirst) {
  const Block block(kAlign32, 64, kNormalOnly);
  char host[64] = {};
  EXPECT_EQ(aclrtMemcpy(block.get(), 8, host, 9, ACL_MEMCPY_HOST_TO_DEVICE), ACL_ERROR_RT_PARAM_INVALID);

  void* dst = block.get();
  void* src = host;
  std::size_t dest_max = 8, size = 9, index = 0, fail = 0;
  aclrtMemcpyBatchAttr attr{};
  attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  EXPECT_EQ(aclrtMemcpyBatch(&dst, &dest_max, &src, &size, 1, &attr, &index, 1, &fail),
            ACL_ERROR_INVALID_PARAM);

  // The wrapping size: outer layer in one allocator, inner layer in the other.
  void* out = nullptr;
  EXPECT_EQ(aclrtMallocAlign32(&out, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMallocWithCfg(&out, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST, nullptr),
            ACL_ERROR_RT_PARAM_INVALID);
}

void everything_works() {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* device = nullptr;
  void* pinned = nullptr;
  void* media = nullptr;
  std::size_t free = 0, total = 0;
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtMalloc(&device, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  EXPECT_EQ(aclrtMallocHost(&pinned, 4096), ACL_SUCCESS);
  EXPECT_EQ(acldvppMalloc(&media, 4096), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(device, 4096, 7, 4096), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(pinned, 4096, device, 4096, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(static_cast<char*>(pinned)[4095], 7);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
  EXPECT_EQ(aclrtPointerGetAttributes(device, &attributes), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemFlush(device, 4096), ACL_SUCCESS);
  EXPECT_EQ(acldvppFree(media), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST(CommonWithoutFixture, M2_NothingAsksForAclInit) {
  in_fresh_process(everything_works);
  in_fresh_process([] {  // and nothing minds that it is over
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
    everything_works();
  });
}

TEST_F(Common, M3_M84_M100_D84_ThreadWithoutContextIsAnswered107002) {
  without_context([] {
    void* out = nullptr;
    std::size_t free = 0, total = 0;
    for (const Allocator& allocator : all_allocators()) {
      EXPECT_EQ(allocator.call(&out, 64, policy(kHugeFirst)), ACL_ERROR_RT_CONTEXT_NULL) << allocator.name;
    }
    EXPECT_EQ(aclrtMallocHost(&out, 64), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(acldvppMalloc(&out, 64), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtMemset(&free, sizeof free, 0, sizeof free), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST_F(Common, M3_DestroyedContextCountsAsNone) {
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(take(kMalloc, 64, kHugeFirst).code, ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  void* out = nullptr;
  EXPECT_EQ(aclrtMalloc(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtMallocHost(&out, 64), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(Common, M5_ZeroLengthSucceedsBeforeAnythingIsLookedAt) {
  const auto zero_lengths = [] {
    const auto wild = std::bit_cast<aclrtMemcpyKind>(0x7FFFFFFFU);
    EXPECT_EQ(::aclrtMemcpy(nullptr, 1, nullptr, 0, wild), ACL_SUCCESS);
    EXPECT_EQ(::aclrtMemcpy(nullptr, 0, nullptr, 0, wild), ACL_SUCCESS);
    EXPECT_EQ(::aclrtMemcpy2d(nullptr, 0, nullptr, 0, 0, 9, wild), ACL_SUCCESS);
    EXPECT_EQ(::aclrtMemcpy2d(nullptr, 0, nullptr, 0, 9, 0, wild), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(nullptr, 0, 1, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemsetD32(nullptr, 0, 1, 0), ACL_SUCCESS);
    std::size_t zeros[3] = {}, fail = 5;
    EXPECT_EQ(aclrtMemcpyBatch(nullptr, nullptr, nullptr, zeros, 3, nullptr, nullptr, 0, &fail), ACL_SUCCESS);
    EXPECT_EQ(fail, SIZE_MAX);
    EXPECT_EQ(aclrtMemcpyBatchV2(nullptr, nullptr, nullptr, zeros, 3, nullptr, nullptr, 0), ACL_SUCCESS);
    // The batch looks at these three before the lengths.
    EXPECT_EQ(aclrtMemcpyBatch(nullptr, nullptr, nullptr, zeros, 3, nullptr, nullptr, 0, nullptr),
              ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtMemcpyBatch(nullptr, nullptr, nullptr, nullptr, 3, nullptr, nullptr, 0, &fail),
              ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtMemcpyBatch(nullptr, nullptr, nullptr, zeros, 0, nullptr, nullptr, 0, &fail),
              ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(last_error(), ACL_SUCCESS);
  };
  zero_lengths();
  without_context(zero_lengths);
}

TEST_F(Common, M5_AllocatingFunctionsRefuseZero) {
  void* out = nullptr;
  for (const Allocator& allocator : all_allocators()) {
    EXPECT_EQ(allocator.call(&out, 0, policy(kHugeFirst)), ACL_ERROR_INVALID_PARAM) << allocator.name;
  }
  EXPECT_EQ(aclrtMallocHost(&out, 0), ACL_ERROR_INVALID_PARAM);
}

TEST_F(Common, M6_OutputsStayUntouchedExceptOnShortage) {
  int mark = 0;
  for (const Allocator& allocator : all_allocators()) {
    SCOPED_TRACE(allocator.name);
    const auto answer = [&](std::size_t size, std::uint32_t value, aclError code, const void* left) {
      void* out = &mark;
      EXPECT_EQ(allocator.call(&out, size, policy(value)), code) << size << " " << hex(value);
      EXPECT_EQ(out, left) << size << " " << hex(value);
    };
    answer(0, kHugeFirst, ACL_ERROR_INVALID_PARAM, &mark);
    answer(SIZE_MAX, kHugeFirst, allocator.wraps, &mark);
    without_context([&] { answer(64, kHugeFirst, ACL_ERROR_RT_CONTEXT_NULL, &mark); });
    if (allocator.policies == Policies::all) {
      answer(64, kHuge1g | kReadOnly, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, &mark);
    }
    answer(kGB * 1024, kHugeFirst, ACL_ERROR_RT_MEMORY_ALLOCATION, nullptr);
    answer(SIZE_MAX - allocator.headroom, kNormalOnly, ACL_ERROR_RT_MEMORY_ALLOCATION, nullptr);
  }
  void* out = &mark;
  EXPECT_EQ(aclrtMallocHost(&out, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(out, &mark);
  EXPECT_EQ(aclrtMallocHost(&out, SIZE_MAX), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(out, &mark);
  EXPECT_EQ(aclrtMallocHost(&out, SIZE_MAX - 31), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(out, nullptr);
  out = &mark;
  EXPECT_EQ(acldvppMalloc(&out, SIZE_MAX - 63), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(out, &mark);
  EXPECT_EQ(acldvppMalloc(&out, kGB * 1024), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(out, nullptr);

  std::size_t free = 11, total = 12;
  EXPECT_EQ(aclrtGetMemInfo(std::bit_cast<aclrtMemAttr>(18), &free, &total),
            ACL_ERROR_RT_INVALID_MEMORY_TYPE);
  without_context([&] { EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_ERROR_RT_CONTEXT_NULL); });
  EXPECT_EQ(free, 11U);
  EXPECT_EQ(total, 12U);
}

TEST_F(Common, M7_InnerFailuresBecomeTheLastErrorOfTheThread) {
  void* out = nullptr;
  int local = 0;
  std::size_t free = 0, total = 0;
  EXPECT_EQ(aclrtFree(&local), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(last_error(), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMalloc(&out, kGB * 1024, ACL_MEM_MALLOC_HUGE_ONLY), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_NE(recent_message().find("EL0004"), std::string::npos);
  EXPECT_EQ(take(kMalloc, 64, kHugeFirst).code, ACL_SUCCESS);  // a success does not clear it
  EXPECT_EQ(last_error(), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetMemInfo(std::bit_cast<aclrtMemAttr>(99), &free, &total),
            ACL_ERROR_RT_INVALID_MEMORY_TYPE);
  without_context([&] {  // the slot of another thread
    EXPECT_EQ(last_error(), ACL_SUCCESS);
    EXPECT_EQ(aclrtMalloc(&out, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(last_error(), ACL_ERROR_RT_CONTEXT_NULL);
  });
  EXPECT_EQ(last_error(), ACL_ERROR_RT_INVALID_MEMORY_TYPE);
}

TEST_F(Common, M7_OuterFailuresDoNot) {
  void* out = nullptr;
  std::size_t number = 0;
  EXPECT_EQ(aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
  EXPECT_EQ(aclrtMalloc(&out, 0, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_message().find("aclrtMalloc"), std::string::npos);
  EXPECT_EQ(aclrtMalloc(&out, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, nullptr, &number), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldvppMalloc(nullptr, 64), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemFlush(nullptr, 64), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

}  // namespace common_test
