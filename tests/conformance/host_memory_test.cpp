// Page-locked host memory: aclrtMallocHost, aclrtFreeHost, aclrtFreeHostWithDevSync.
#include <algorithm>
#include <limits>

#include "support/blocks.h"

namespace host_memory_test {

using namespace belay_test;

class HostMemory : public OnDevice {};

constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();

aclrtPtrAttributes attributes_of(const void* pointer) {
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(pointer, &attributes), ACL_SUCCESS);
  return attributes;
}

TEST_F(HostMemory, M170_NullOutput_Is100000_AndBeatsSizeAndContext) {
  EXPECT_EQ(aclrtMallocHost(nullptr, 4096), kBadArgument);
  EXPECT_EQ(aclrtMallocHost(nullptr, 0), kBadArgument);
  EXPECT_EQ(aclrtMallocHost(nullptr, kMax), kBadArgument);
  without_context([] { EXPECT_EQ(aclrtMallocHost(nullptr, 64), kBadArgument); });
  EXPECT_EQ(last_error(), ACL_SUCCESS) << "the outer layer stores no last error";
}

TEST_F(HostMemory, M171_SizeZero_Is100000_OutputUntouched_BeforeTheContext) {
  void* block = sentinel();
  EXPECT_EQ(aclrtMallocHost(&block, 0), kBadArgument);
  EXPECT_EQ(block, sentinel());
  without_context([] {
    void* other = sentinel();
    EXPECT_EQ(aclrtMallocHost(&other, 0), kBadArgument);
    EXPECT_EQ(other, sentinel());
  });
}

TEST_F(HostMemory, M172_D43_NoContext_Is107002_EvenForASizeThatWraps) {
  without_context([] {
    for (const std::size_t size : {std::size_t{1}, std::size_t{4096}, kMax - 31, kMax - 30, kMax}) {
      void* block = sentinel();
      EXPECT_EQ(aclrtMallocHost(&block, size), kNoContext) << size;
      EXPECT_EQ(block, sentinel());
    }
    EXPECT_EQ(last_error(), kNoContext);
  });
}

TEST_F(HostMemory, M173_M38_SizeThatWraps_Is107000_OutputUntouched) {
  for (const std::size_t size : {kMax - 30, kMax - 29, kMax - 1, kMax}) {
    void* block = sentinel();
    EXPECT_EQ(aclrtMallocHost(&block, size), kBadValue) << kMax - size;
    EXPECT_EQ(block, sentinel());
    EXPECT_EQ(last_error(), kBadValue);
  }
}

TEST_F(HostMemory, M174_M6_SizeThatCannotBeServed_Is207001_OutputBecomesNull) {
  for (const std::size_t size : {kMax - 31, kMax - 32, kMax - 4095, kMax - 4096, kMax / 2,
                                 std::size_t{1} << 62U, std::size_t{1} << 48U}) {
    void* block = sentinel();
    EXPECT_EQ(aclrtMallocHost(&block, size), kShortage) << size;
    EXPECT_EQ(block, nullptr);
    EXPECT_EQ(last_error(), kShortage);
  }
}

TEST_F(HostMemory, M175_M41_AlignedReadableWritable_AtEverySize) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{33},
                                 std::size_t{63}, std::size_t{64}, std::size_t{65}, std::size_t{4095},
                                 std::size_t{4096}, std::size_t{4097}, kMB - 1, kMB, kMB + 1, 2 * kMB + 1}) {
    void* block = nullptr;
    ASSERT_EQ(aclrtMallocHost(&block, size), ACL_SUCCESS) << size;
    EXPECT_EQ(number(block) % 64, 0U) << size;
    const Bytes bytes = pattern(size, 3);
    std::copy(bytes.begin(), bytes.end(), at(block, 0));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), at(block, 0))) << size;
    EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  }
}

TEST_F(HostMemory, M175_BlocksDoNotShareBytes) {
  std::vector<void*> blocks(40);
  for (auto& block : blocks) ASSERT_EQ(aclrtMallocHost(&block, 5000), ACL_SUCCESS);
  std::vector<void*> sorted = blocks;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 1; i < sorted.size(); ++i) EXPECT_GE(number(sorted[i]) - number(sorted[i - 1]), 5000U);
  for (void* block : blocks) EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
}

TEST_F(HostMemory, M431_CostsNoDeviceMemory) {
  const std::size_t before = free_bytes();
  void* block = nullptr;
  ASSERT_EQ(aclrtMallocHost(&block, 2 * kMB + 1), ACL_SUCCESS);
  EXPECT_NE(block, nullptr);
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(HostMemory, M177_M190_BothFreeFunctionsReleaseIt) {
  void* block = nullptr;
  ASSERT_EQ(aclrtMallocHost(&block, 4096), ACL_SUCCESS);
  EXPECT_EQ(attributes_of(block).location.type, ACL_MEM_LOCATION_TYPE_HOST);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block), kBadValue);
  ASSERT_EQ(aclrtMallocHost(&block, 4096), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHostWithDevSync(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block), kBadValue) << "released at once";
}

TEST_F(HostMemory, M187_FreeNull_Is100000) {
  EXPECT_EQ(aclrtFreeHost(nullptr), kBadArgument);
  without_context([] { EXPECT_EQ(aclrtFreeHost(nullptr), kBadArgument); });
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(HostMemory, M188_DeviceAddress_Is107000_AndStaysAlive) {
  for (const unsigned policy : {0U, 1U, 2U, 5U, 0x100002U}) {
    Device block{100, policy};
    const std::size_t before = free_bytes();
    EXPECT_EQ(aclrtFreeHost(block.get()), kBadValue) << policy;
    EXPECT_EQ(aclrtFreeHostWithDevSync(block.get()), kBadValue) << policy;
    EXPECT_TRUE(alive(block.get()));
    EXPECT_EQ(free_bytes(), before);
  }
  EXPECT_EQ(last_error(), kBadValue);
}

TEST_F(HostMemory, M189_NotTheStartOfALiveBlock_Is107000) {
  Pinned block{8192};
  for (const std::size_t offset : {std::size_t{1}, std::size_t{64}, std::size_t{4096}, std::size_t{8191}}) {
    EXPECT_EQ(aclrtFreeHost(block.get(offset)), kBadValue) << offset;
  }
  *at(block.get(), 8191) = 1;  // still there
  int on_stack = 0;
  EXPECT_EQ(aclrtFreeHost(&on_stack), kBadValue);
  static int is_static = 0;
  EXPECT_EQ(aclrtFreeHost(&is_static), kBadValue);
  const auto on_heap = std::make_unique<int>(5);
  EXPECT_EQ(aclrtFreeHost(on_heap.get()), kBadValue);
  EXPECT_EQ(*on_heap, 5);
  EXPECT_EQ(aclrtFreeHost(reinterpret_cast<void*>(std::uintptr_t{1})), kBadValue);
  EXPECT_EQ(aclrtFreeHost(reinterpret_cast<void*>(std::numeric_limits<std::uintptr_t>::max())), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
}

TEST_F(HostMemory, M191_FreeNeedsNoContext_AndAnyThreadMay) {
  Pinned block{4096};
  without_context([&] { EXPECT_EQ(aclrtFreeHost(block.get()), ACL_SUCCESS); });
  EXPECT_EQ(aclrtFreeHost(block.get()), kBadValue);
  block.forget();
}

TEST_F(HostMemory, M192_WithDevSync_NullThenContextThenAsFreeHost) {
  Pinned block{4096};
  Device device{64};
  without_context([&] {
    EXPECT_EQ(aclrtFreeHostWithDevSync(nullptr), kBadArgument);
    EXPECT_EQ(aclrtFreeHostWithDevSync(block.get()), kNoContext);
    EXPECT_EQ(aclrtFreeHostWithDevSync(device.get()), kNoContext);
    int on_stack = 0;
    EXPECT_EQ(aclrtFreeHostWithDevSync(&on_stack), kNoContext);
  });
  EXPECT_EQ(attributes_of(block.get()).location.type, ACL_MEM_LOCATION_TYPE_HOST) << "nothing was freed";
  EXPECT_EQ(aclrtFreeHostWithDevSync(block.get(1)), kBadValue);
  EXPECT_EQ(aclrtFreeHostWithDevSync(block.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHostWithDevSync(block.get()), kBadValue);
  block.forget();
}

TEST_F(HostMemory, M193_StillRegistered_Is507899_NothingFreed_MessageSaysUnregister) {
  Pinned block{8192};
  void* device_address = nullptr;
  ASSERT_EQ(aclrtHostRegister(block.get(), 8192, ACL_HOST_REGISTER_MAPPED, &device_address), ACL_SUCCESS);
  recent_message();
  EXPECT_EQ(aclrtFreeHost(block.get()), kRefused);
  EXPECT_EQ(last_error(), kRefused);
  const std::string message = recent_message();
  EXPECT_TRUE(mentions(message, "unregister")) << message;
  EXPECT_EQ(aclrtFreeHostWithDevSync(block.get()), kRefused);
  *at(block.get(), 8191) = 9;
  ASSERT_EQ(aclrtHostUnregister(block.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block.get()), ACL_SUCCESS);
  block.forget();
}

TEST_F(HostMemory, M193_APartThatIsRegistered_CountsToo) {
  Pinned block{16384};
  ASSERT_EQ(aclrtHostRegisterV2(block.get(8192), 4096, ACL_HOST_REG_MAPPED), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block.get()), kRefused);
  ASSERT_EQ(aclrtHostUnregister(block.get(8192)), ACL_SUCCESS);
}

TEST_F(HostMemory, M177_M407_OutlivesItsContext) {
  void* block = nullptr;
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&block, 4096), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  *at(block, 4095) = 1;
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
}

}  // namespace host_memory_test
