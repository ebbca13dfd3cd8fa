// acldvppMalloc and acldvppFree: media memory, interface of version 1.
#include <cstdlib>

#include "acl/ops/acl_dvpp.h"
#include "hi_dvpp.h"
#include "support/allocators.h"

namespace dvpp_test {

using namespace belay_test;

class Dvpp : public OnDevice {};

// Bytes that a media block costs; it is freed again.
std::size_t cost(std::size_t size) {
  const std::size_t before = free_bytes();
  void* block = nullptr;
  EXPECT_EQ(acldvppMalloc(&block, size), ACL_SUCCESS) << size;
  const std::size_t bytes = before - free_bytes();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 128, 0U);
  EXPECT_EQ(acldvppFree(block), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), before);
  return bytes;
}

TEST_F(Dvpp, M392_NullOutput) {
  EXPECT_EQ(acldvppMalloc(nullptr, 64), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
  EXPECT_EQ(acldvppMalloc(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acldvppMalloc(nullptr, SIZE_MAX), ACL_ERROR_INVALID_PARAM);
  without_context([] { EXPECT_EQ(acldvppMalloc(nullptr, 64), ACL_ERROR_INVALID_PARAM); });
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(Dvpp, M393_WrappingSizes) {
  int mark = 0;
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 62, SIZE_MAX - 63}) {
    void* out = &mark;
    EXPECT_EQ(acldvppMalloc(&out, size), ACL_ERROR_INVALID_PARAM) << SIZE_MAX - size;
    EXPECT_EQ(out, &mark);
  }
  void* out = &mark;
  EXPECT_EQ(acldvppMalloc(&out, SIZE_MAX - 64), ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(out, nullptr);
  without_context([&] {  // before the context
    EXPECT_EQ(acldvppMalloc(&out, SIZE_MAX - 63), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(acldvppMalloc(&out, SIZE_MAX - 64), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST_F(Dvpp, M394_SizeZeroSucceeds) {
  EXPECT_EQ(cost(0), 4096U);
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(acldvppMalloc(&first, 0), ACL_SUCCESS);
  ASSERT_EQ(acldvppMalloc(&second, 0), ACL_SUCCESS);
  ASSERT_NE(first, nullptr);
  EXPECT_NE(first, second);
  EXPECT_EQ(aclrtMemset(first, 32, 1, 32), ACL_SUCCESS);  // the 32 bytes are there
  EXPECT_EQ(acldvppFree(first), ACL_SUCCESS);
  EXPECT_EQ(acldvppFree(second), ACL_SUCCESS);
}

TEST_F(Dvpp, M395_NoContext) {
  without_context([] {
    int mark = 0;
    void* out = &mark;
    EXPECT_EQ(acldvppMalloc(&out, 64), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(acldvppMalloc(&out, 0), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(out, &mark);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST_F(Dvpp, M397_M428_M80_BytesTakenAreRoundedToFourKilobytes) {
  EXPECT_EQ(cost(1), 4096U);
  EXPECT_EQ(cost(4064), 4096U);
  EXPECT_EQ(cost(4065), 8192U);
  EXPECT_EQ(cost(4096), 8192U);
  EXPECT_EQ(cost(kMB), kMB + 4096);
  EXPECT_EQ(cost(2 * kMB - 32), 2 * kMB);
  EXPECT_EQ(cost(2 * kMB - 31), 2 * kMB + 4096);  // not 4 MB
  EXPECT_EQ(cost(3 * kMB), 3 * kMB + 4096);
  EXPECT_EQ(cost(kGB), kGB + 4096);
}

TEST_F(Dvpp, M397_MediaMemoryServesInCopiesAndFills) {
  void* media = nullptr;
  ASSERT_EQ(acldvppMalloc(&media, 3 * kMB), ACL_SUCCESS);
  const Block plain(kMalloc, 3 * kMB, kHugeFirst);
  EXPECT_EQ(page_of(media), kPage2M);
  EXPECT_EQ(aclrtMemset(media, 3 * kMB, 6, 3 * kMB), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(plain.get(), 3 * kMB, media, 3 * kMB, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(contents(plain.get(), 3 * kMB), std::vector<unsigned char>(3 * kMB, 6));
  const char text[] = "picture";
  EXPECT_EQ(aclrtMemcpy(media, sizeof text, text, sizeof text, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(contents(media, 8)[6], 'e');
  EXPECT_EQ(acldvppFree(media), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(media, 1, 0, 1), ACL_ERROR_RT_DRV_INTERNAL_ERROR);  // gone
}

TEST_F(Dvpp, M397_TheMemoryComesFromTheCurrentDevice) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  const std::size_t before = free_bytes();
  void* media = nullptr;
  ASSERT_EQ(acldvppMalloc(&media, 64), ACL_SUCCESS);
  EXPECT_EQ(before - free_bytes(), 4096U);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), free_before_);
  EXPECT_EQ(acldvppFree(media), ACL_SUCCESS);  // of another device than the current one
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(Dvpp, M398_WhatFreeTakesAndRefuses) {
  EXPECT_EQ(acldvppFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  void* media = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(acldvppMalloc(&media, 10000), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
  void* heap = std::malloc(64);
  int local = 0;
  const std::size_t before = free_bytes();
  for (void* wrong :
       {pinned, heap, static_cast<void*>(&local), static_cast<void*>(static_cast<char*>(media) + 128),
        static_cast<void*>(static_cast<char*>(media) + 512 * kGB)}) {
    EXPECT_EQ(acldvppFree(wrong), ACL_ERROR_RT_PARAM_INVALID) << wrong;
  }
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);  // it was left alone
  std::free(heap);
  without_context([&] { EXPECT_EQ(acldvppFree(media), ACL_SUCCESS); });
  EXPECT_EQ(acldvppFree(media), ACL_ERROR_RT_PARAM_INVALID);

  for (const Allocator& allocator : all_allocators()) {  // any device block
    Block block(allocator, 64, kHugeFirst);
    EXPECT_EQ(acldvppFree(block.release()), ACL_SUCCESS) << allocator.name;
  }
  EXPECT_EQ(free_bytes(), free_before_);
}

TEST_F(Dvpp, M399_DeviceFreeTakesMediaMemory) {
  void* media = nullptr;
  ASSERT_EQ(acldvppMalloc(&media, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(media), ACL_SUCCESS);
  ASSERT_EQ(acldvppMalloc(&media, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeWithDevSync(media), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), free_before_);
}

TEST_F(Dvpp, M402_TheTwoFreeFunctionsMayBeCrossed) {
  void* block = nullptr;
  ASSERT_EQ(acldvppMalloc(&block, 64), ACL_SUCCESS);
  EXPECT_EQ(hi_mpi_dvpp_free(block), 0);
  ASSERT_EQ(hi_mpi_dvpp_malloc(0, &block, 64), 0);
  EXPECT_EQ(acldvppFree(block), ACL_SUCCESS);
  EXPECT_EQ(acldvppFree(block), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(free_bytes(), free_before_);
}

}  // namespace dvpp_test
