// An allocator of an inference server that can put its memory to sleep: the physical memory goes, the
// addresses stay, and after waking every pointer is valid again.
#include <map>

#include "support/client_flows.h"

namespace virtual_flow_sleep_test {

using namespace belay_test;

// Answers the first code that is not 0, as its original raises then.
class SleepingAllocator {
 public:
  explicit SleepingAllocator(std::uint32_t device) : device_{device} {}

  aclError allocate(void** address, std::size_t wished) {
    if (const aclError code = make_sure_of_a_context(); code != ACL_SUCCESS) return code;
    aclrtPhysicalMemProp prop = memory_at(ACL_MEM_LOCATION_TYPE_DEVICE, device_, ACL_HBM_MEM_HUGE);
    std::size_t granularity = 0;
    if (const aclError code =
            aclrtMemGetAllocationGranularity(&prop, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &granularity);
        code != ACL_SUCCESS)
      return code;
    const std::size_t size = up_to(wished, granularity);
    if (const aclError code = aclrtReserveMemAddress(address, size, 0, nullptr, 0); code != ACL_SUCCESS)
      return code;
    if (const aclError code = give_memory(*address, size); code != ACL_SUCCESS) {
      const aclError released = aclrtReleaseMemAddress(*address);
      return released == ACL_SUCCESS ? code : released;
    }
    return ACL_SUCCESS;
  }

  aclError free(void* address) {
    const Block block = blocks_.at(address);
    if (const aclError code = take_memory(address, block.handle); code != ACL_SUCCESS) return code;
    blocks_.erase(address);
    return aclrtReleaseMemAddress(address);
  }

  // Keeps what the blocks hold; those in `lost` are not needed any more.
  aclError doze(const std::vector<void*>& lost = {}) {
    for (auto& [address, block] : blocks_) {
      if (std::find(lost.begin(), lost.end(), address) == lost.end()) {
        block.kept.resize(block.size);
        // The room it states is an address and twice the size: far more than there is.
        const std::size_t room = number(block.kept.data()) + block.size * 2;
        if (const aclError code =
                aclrtMemcpy(block.kept.data(), room, address, block.size, ACL_MEMCPY_DEVICE_TO_HOST);
            code != ACL_SUCCESS)
          return code;
      }
      if (const aclError code = take_memory(address, block.handle); code != ACL_SUCCESS) return code;
    }
    return ACL_SUCCESS;
  }

  aclError wake() {
    for (auto& [address, block] : blocks_) {
      if (const aclError code = give_memory(address, block.size); code != ACL_SUCCESS) return code;
      if (block.kept.empty()) continue;
      const std::size_t room = number(address) + block.size * 2;
      if (const aclError code =
              aclrtMemcpy(address, room, block.kept.data(), block.size, ACL_MEMCPY_HOST_TO_DEVICE);
          code != ACL_SUCCESS)
        return code;
      block.kept.clear();
    }
    return ACL_SUCCESS;
  }

 private:
  struct Block {
    std::size_t size = 0;
    aclrtDrvMemHandle handle = nullptr;
    Bytes kept;
  };

  aclError make_sure_of_a_context() const {
    aclrtContext context = nullptr;
    if (aclrtGetCurrentContext(&context) == ACL_SUCCESS && context != nullptr) return ACL_SUCCESS;
    const aclError code = aclrtCreateContext(&context, static_cast<std::int32_t>(device_));
    return code == ACL_SUCCESS ? aclrtSetCurrentContext(context) : code;
  }

  aclError give_memory(void* address, std::size_t size) {
    const aclrtPhysicalMemProp prop = memory_at(ACL_MEM_LOCATION_TYPE_DEVICE, device_, ACL_HBM_MEM_HUGE);
    aclrtDrvMemHandle handle = nullptr;
    if (const aclError code = aclrtMallocPhysical(&handle, size, &prop, 0); code != ACL_SUCCESS) return code;
    blocks_[address].size = size;
    blocks_[address].handle = handle;
    return aclrtMapMem(address, size, 0, handle, 0);
  }

  static aclError take_memory(void* address, aclrtDrvMemHandle handle) {
    const aclError code = aclrtUnmapMem(address);
    return code == ACL_SUCCESS ? aclrtFreePhysical(handle) : code;
  }

  std::uint32_t device_;
  std::map<void*, Block> blocks_;
};

// What a model has: weights that must survive, and a cache that need not.
constexpr std::size_t kWeights = 6 * kMB + 1, kCache = 10 * kMB, kSmall = 1;
constexpr std::size_t kAll = 8 * kMB + 10 * kMB + 2 * kMB;

void sleep_and_wake(const Bytes& numbers) {
  FLOW_STEP(aclrtSetDevice(0));
  const MemoryBooks books;
  SleepingAllocator allocator{0};
  void *weights = nullptr, *cache = nullptr, *small = nullptr;
  FLOW_STEP(allocator.allocate(&weights, kWeights));
  FLOW_STEP(allocator.allocate(&cache, kCache));
  FLOW_STEP(allocator.allocate(&small, kSmall));
  EXPECT_EQ(books.taken(), kAll);
  write_to(weights, numbers);
  write_to(small, {42});

  aclrtStream stream = nullptr;
  FLOW_STEP(aclrtCreateStream(&stream));
  for (int night = 0; night < 3; ++night) {
    // Work that was queued on the memory is waited for, and not by the allocator.
    FLOW_STEP(aclrtMemsetAsync(cache, kCache, night + 1, kCache, stream));
    FLOW_STEP(aclrtSynchronizeStream(stream));
    EXPECT_EQ(read_from(cache, kCache), Bytes(kCache, static_cast<std::uint8_t>(night + 1)));

    FLOW_STEP(allocator.doze({cache}));
    EXPECT_EQ(books.taken(), 0U) << "asleep it holds addresses alone";
    Bytes one(1);
    EXPECT_EQ(aclrtMemcpy(one.data(), 1, weights, 1, ACL_MEMCPY_DEVICE_TO_HOST), kRefused);
    void* others = nullptr;
    FLOW_STEP(aclrtMalloc(&others, kAll, ACL_MEM_MALLOC_HUGE_ONLY));
    FLOW_STEP(aclrtFree(others));

    FLOW_STEP(allocator.wake());
    EXPECT_EQ(books.taken(), kAll);
    EXPECT_EQ(read_from(weights, kWeights), numbers);
    EXPECT_EQ(read_from(small, 1), Bytes{42});
    // Tensors and kernels kept their pointers, and queue work with them.
    FLOW_STEP(aclrtMemcpyAsync(cache, kCache, weights, kWeights, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
    FLOW_STEP(aclrtSynchronizeStream(stream));
    EXPECT_EQ(read_from(cache, kWeights), numbers);
  }
  for (void* const address : {weights, cache, small}) FLOW_STEP(allocator.free(address));
  EXPECT_EQ(books.taken(), 0U);
  FLOW_STEP(aclrtDestroyStream(stream));
  FLOW_STEP(aclrtResetDevice(0));
}

TEST(VirtualFlowSleep, V494_V495_V499_MemorySleeps_AndWakesAtItsAddresses) {
  const Bytes numbers = pattern(kWeights, 5);
  on_a2_and_a3({}, [&] { sleep_and_wake(numbers); });
}

TEST(VirtualFlowSleep, V496_FreedWhileAsleep_TheUnmapIs507899) {
  on_a2_and_a3({}, [] {
    FLOW_STEP(aclrtSetDevice(0));
    const MemoryBooks books;
    SleepingAllocator allocator{0};
    void* block = nullptr;
    FLOW_STEP(allocator.allocate(&block, kCache));
    FLOW_STEP(allocator.doze());
    EXPECT_EQ(allocator.free(block), kRefused);
    FLOW_STEP(allocator.wake());
    FLOW_STEP(allocator.free(block));
    EXPECT_EQ(books.taken(), 0U);
    EXPECT_EQ(aclrtReleaseMemAddress(block), kBadValue) << "it was the last of the three calls";
  });
}

TEST(VirtualFlowSleep, V497_WithoutAContext_OneIsMade_AndServes) {
  on_a2_and_a3({}, [] {
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&context), kNoContext);
    SleepingAllocator allocator{1};
    void* block = nullptr;
    FLOW_STEP(allocator.allocate(&block, kWeights));
    FLOW_STEP(aclrtGetCurrentContext(&context));
    std::int32_t device = -1;
    FLOW_STEP(aclrtGetDevice(&device));
    EXPECT_EQ(device, 1);
    write_to(at(block, kWeights - 1000), pattern(1000, 8));
    FLOW_STEP(allocator.doze());
    FLOW_STEP(allocator.wake());
    EXPECT_EQ(read_from(at(block, kWeights - 1000), 1000), pattern(1000, 8));
    aclrtPtrAttributes attributes{};
    FLOW_STEP(aclrtPointerGetAttributes(block, &attributes));
    EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
    EXPECT_EQ(attributes.location.id, 1U);
    FLOW_STEP(allocator.free(block));
    FLOW_STEP(aclrtDestroyContext(context));
  });
}

TEST(VirtualFlowSleep, V498_OutOfMemory_Is207001_OfPhysicalMemoryAndOfAddresses) {
  on_a2_and_a3({{"BELAY_HBM", "32M"}}, [] {
    FLOW_STEP(aclrtSetDevice(0));
    const MemoryBooks books;
    SleepingAllocator allocator{0};
    void *first = nullptr, *second = nullptr;
    FLOW_STEP(allocator.allocate(&first, 20 * kMB));
    EXPECT_EQ(allocator.allocate(&second, 12 * kMB + 1), kShortage);
    EXPECT_EQ(books.taken(), 20 * kMB);
    FLOW_STEP(allocator.allocate(&second, 12 * kMB)) << "what is left";
    EXPECT_EQ(allocator.allocate(&second, std::size_t{1} << 62U), kShortage) << "no window is so large";
    // Another model may have the memory while this one sleeps, and then it cannot wake.
    FLOW_STEP(allocator.doze());
    void* other = nullptr;
    FLOW_STEP(aclrtMalloc(&other, 30 * kMB, ACL_MEM_MALLOC_HUGE_ONLY));
    EXPECT_EQ(allocator.wake(), kShortage);
    FLOW_STEP(aclrtFree(other));
  });
}

}  // namespace virtual_flow_sleep_test
