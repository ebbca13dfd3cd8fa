// aclrtFree and aclrtFreeWithDevSync.
#include <cstdlib>
#include <string>

#include "acl/ops/acl_dvpp.h"
#include "support/allocators.h"

namespace device_free_test {

using namespace belay_test;

class DeviceFree : public OnDevice {};

using Free = aclError (*)(void*);

// Answers 107000, frees nothing, is the last error, and the message has the code for a bad argument.
void expect_unknown(Free function, void* pointer, const char* what) {
  SCOPED_TRACE(what);
  const std::size_t before = free_bytes();
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  recent_message();
  EXPECT_EQ(function(pointer), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_PARAM_INVALID);
  const std::string message = recent_message();
  EXPECT_TRUE(message.find("EE1003") != std::string::npos || message.find("EE1011") != std::string::npos)
      << message;
}

void expect_only_starts_are_freed(Free function) {
  for (const std::uint32_t value : {kNormalOnly, kHugeOnly, kHuge1g, kReadOnly}) {
    Block block(kMalloc, 10000, value);
    for (const std::size_t inside : {1U, 32U, 64U, 4096U, 8192U, 9999U, 10000U, 10031U}) {
      expect_unknown(function, block.bytes() + inside, "inside");
    }
    expect_unknown(function, block.bytes() - 64, "before");
    EXPECT_EQ(contents(block.get(), 10000).size(), 10000U);  // it is still there
    void* start = block.release();
    EXPECT_EQ(function(start), ACL_SUCCESS);
    expect_unknown(function, start, "freed already");
    expect_unknown(function, start, "freed already, third time");
  }
  const Block block(kMalloc, 64, kHugeFirst);
  expect_unknown(function, block.bytes() + 512 * kGB, "a device address never handed out");
  int local = 0;
  static int global = 0;
  void* heap = std::malloc(64);
  expect_unknown(function, &local, "the stack");
  expect_unknown(function, &global, "static memory");
  expect_unknown(function, heap, "malloc");
  expect_unknown(function, reinterpret_cast<void*>(1), "nonsense");
  expect_unknown(function, reinterpret_cast<void*>(UINTPTR_MAX), "nonsense");
  std::free(heap);
}

TEST_F(DeviceFree, M110_M120_Null) {
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(recent_message().find("EH0002"), std::string::npos);
  EXPECT_EQ(aclrtFreeWithDevSync(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  without_context([] {
    EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtFreeWithDevSync(nullptr), ACL_ERROR_INVALID_PARAM);  // before the context
  });
}

TEST_F(DeviceFree, M111_AnythingButTheStartOfALiveBlockIs107000) { expect_only_starts_are_freed(&aclrtFree); }

TEST_F(DeviceFree, M123_WithDevSyncAnswersAsFree) { expect_only_starts_are_freed(&aclrtFreeWithDevSync); }

TEST_F(DeviceFree, M112_M114_M118_TheFigureRisesAtOnceByTheFootprint) {
  for (const Allocator& allocator : all_allocators()) {
    for (const std::uint32_t value : {kHugeFirst, kHugeOnly, kNormalOnly, kHuge1g, 99U}) {
      for (const std::size_t size :
           {std::size_t{1}, std::size_t{4097}, kMB + 1, 36 * kMB, 40 * kMB, 3 * kGB}) {
        void* block = nullptr;
        ASSERT_EQ(allocator.call(&block, size, policy(value)), ACL_SUCCESS);
        EXPECT_EQ(free_before_ - free_bytes(), documented(allocator, size, value).bytes);
        EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
        EXPECT_EQ(free_bytes(), free_before_) << allocator.name << " " << size << " " << hex(value);
      }
    }
  }
}

TEST_F(DeviceFree, M113_NoContextIsNeededOnAnyThread) {
  std::vector<void*> blocks(4);
  for (void*& block : blocks) ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  without_context([&] { EXPECT_EQ(aclrtFree(blocks[0]), ACL_SUCCESS); });
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);  // this thread has none now
  EXPECT_EQ(aclrtFree(blocks[1]), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(blocks[1]), ACL_ERROR_RT_PARAM_INVALID);
  without_context([&] {
    EXPECT_EQ(aclrtFree(blocks[2]), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(blocks[3]), ACL_SUCCESS);
  });
}

TEST_F(DeviceFree, M115_M109_BlocksOfEveryAllocator) {
  for (const Allocator& allocator : all_allocators()) {
    void* block = nullptr;
    ASSERT_EQ(allocator.call(&block, 64, policy(kHugeFirst)), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS) << allocator.name;
    EXPECT_EQ(free_bytes(), free_before_) << allocator.name;
  }
}

TEST_F(DeviceFree, M116_M399_PinnedAndMediaMemoryToo) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMallocHost(&block, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block), ACL_ERROR_RT_PARAM_INVALID);  // it is gone
  ASSERT_EQ(acldvppMalloc(&block, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(acldvppFree(block), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(free_bytes(), free_before_);
  ASSERT_EQ(aclrtMallocHost(&block, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeWithDevSync(block), ACL_SUCCESS);
}

std::size_t free_of(std::int32_t device) {
  EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
  return free_bytes();
}

TEST_F(DeviceFree, M117_M124_MemoryOfAnotherDevice) {
  for (const Free function : {&aclrtFree, &aclrtFreeWithDevSync}) {
    const std::size_t one = free_of(1), seven = free_of(7);
    Block there(kMalloc, 64, kHugeOnly);
    ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    Block here(kMalloc, 64, kNormalOnly);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);  // neither of the two
    EXPECT_EQ(function(there.release()), ACL_SUCCESS);
    EXPECT_EQ(free_of(7), seven);
    EXPECT_EQ(one - free_of(1), 4096U);  // only that block
    ASSERT_EQ(aclrtSetDevice(7), ACL_SUCCESS);
    EXPECT_EQ(function(here.release()), ACL_SUCCESS);
    EXPECT_EQ(free_of(1), one);
  }
  aclrtResetDeviceForce(1);
  aclrtResetDeviceForce(7);
}

TEST_F(DeviceFree, M119_AddressesAreHandedOutAgain) {
  for (int i = 0; i < 1000; ++i) {  // far more than the range of addresses in all
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 40 * kGB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS) << i;
    ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
  for (int i = 0; i < 100; ++i) {
    for (const std::uint32_t value : {kNormalOnly, kHuge1g, kNormalOnlyP2p}) {
      void* block = nullptr;
      ASSERT_EQ(aclrtMalloc(&block, 60 * kGB, policy(value)), ACL_SUCCESS) << i;
      ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  }
}

TEST_F(DeviceFree, M119_AReusedAddressIsANewBlock) {
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_EQ(aclrtMalloc(&first, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  ASSERT_EQ(aclrtFree(first), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&second, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(second, 64, 1, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(second), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(DeviceFree, M121_WithDevSyncWithoutAContextFreesNothing) {
  Block block(kMalloc, 64, kHugeOnly);
  const std::size_t before = free_bytes();
  without_context([&] {
    EXPECT_EQ(aclrtFreeWithDevSync(block.get()), ACL_ERROR_RT_CONTEXT_NULL);
    int local = 0;
    EXPECT_EQ(aclrtFreeWithDevSync(&local), ACL_ERROR_RT_CONTEXT_NULL);  // before the pointer is looked up
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
  });
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeWithDevSync(block.release()), ACL_SUCCESS);
  EXPECT_EQ(free_bytes() - before, 2 * kMB);
}

}  // namespace device_free_test
