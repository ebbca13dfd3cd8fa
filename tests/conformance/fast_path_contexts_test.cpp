// A thread that has allocated and freed the same a thousand times notices at once when its context or device
// changes.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "support/allocators.h"
#include "support/app_usage.h"
#include "support/fresh_process.h"
#include "support/slices.h"
#include "support/worker.h"

namespace fast_path_contexts_test {

using namespace belay_test;

class FastPathContexts : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS); }
  void TearDown() override {
    for (std::int32_t device = 0; device < 8; ++device) aclrtResetDeviceForce(device);
  }
};

aclrtContext made_on(std::int32_t device) {
  aclrtContext before = nullptr, context = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateContext(&context, device), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(before), ACL_SUCCESS);
  return context;
}

constexpr std::size_t kSizes[] = {64, 20 * kKB, 2 * kMB};

aclError allocate(std::size_t size = 64) {
  void* block = nullptr;
  const aclError answer = aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST);
  if (answer == ACL_SUCCESS) {
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  } else {
    EXPECT_EQ(block, nullptr);
  }
  return answer;
}

aclError fill_bins() {
  for (int i = 0; i < 200; ++i) {
    for (const std::size_t size : kSizes) {
      if (const aclError answer = allocate(size)) return answer;
    }
  }
  return ACL_SUCCESS;
}

void expect_no_context(Worker& worker) {
  for (const std::size_t size : kSizes)
    EXPECT_EQ(worker.ask([=] { return allocate(size); }), ACL_ERROR_RT_CONTEXT_NULL) << size;
  EXPECT_EQ(worker.ask([] { return aclrtMallocAlign32(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST); }),
            ACL_ERROR_INVALID_PARAM)
      << "what stands before the context (M-81)";
}

TEST_F(FastPathContexts, R117_M84_DestroyedByAnotherThread_TheNextAllocationKnows) {
  for (int round = 0; round < 20; ++round) {
    Worker user;
    const aclrtContext context = made_on(0);
    ASSERT_EQ(user.ask([&] { return aclrtSetCurrentContext(context); }), ACL_SUCCESS);
    ASSERT_EQ(user.ask(fill_bins), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(user.ask([&] { return aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST); }), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    expect_no_context(user);
    EXPECT_EQ(user.ask([&] { return aclrtFree(block); }), ACL_SUCCESS) << "needs none (M-113)";
    expect_no_context(user);
    ASSERT_EQ(user.ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
    EXPECT_EQ(user.ask(fill_bins), ACL_SUCCESS);
    EXPECT_EQ(user.ask([] { return aclrtResetDevice(0); }), ACL_SUCCESS);
  }
}

// At whatever instant: first all succeed, then all fail.
TEST_F(FastPathContexts, R117_M84_DestroyedWhileTheThreadAllocates_NothingSucceedsAfterTheFirstRefusal) {
  const std::size_t before = free_bytes();
  for (int round = 0; round < 50; ++round) {
    const aclrtContext context = made_on(0);
    std::atomic<bool> destroyed{false};
    std::atomic<int> pairs{0};
    std::thread user{[&] {
      EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      aclError answer = ACL_SUCCESS;
      bool knew = false;
      do {
        knew = destroyed;  // an allocation that starts after the destruction must be refused
        answer = allocate(2 * kMB);
        ++pairs;
      } while (answer == ACL_SUCCESS && !knew);
      EXPECT_EQ(answer, ACL_ERROR_RT_CONTEXT_NULL);
      for (int i = 0; i < 100; ++i) EXPECT_EQ(allocate(2 * kMB), ACL_ERROR_RT_CONTEXT_NULL);
    }};
    while (pairs < 50 + round * 10) std::this_thread::yield();
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    destroyed = true;
    user.join();
    ASSERT_EQ(free_bytes(), before);
  }
}

TEST_F(FastPathContexts, R116_M84_DestroyedByTheThreadItself) {
  const aclrtContext context = made_on(0);
  ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
  ASSERT_EQ(fill_bins(), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(allocate(), ACL_ERROR_RT_CONTEXT_NULL);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(allocate(), ACL_SUCCESS);
}

// The context of somebody else is no concern of this thread.
TEST_F(FastPathContexts, R117_AnotherContextDies_AndThisThreadGoesOn) {
  Worker user;
  ASSERT_EQ(user.ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
  ASSERT_EQ(user.ask(fill_bins), ACL_SUCCESS);
  for (int round = 0; round < 100; ++round) {
    const aclrtContext other = made_on(round % 2);
    ASSERT_EQ(user.ask([] { return allocate(); }), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
    ASSERT_EQ(user.ask(fill_bins), ACL_SUCCESS);
  }
}

TEST_F(FastPathContexts, R63_M84_M408_TheDeviceIsResetByAnotherThread) {
  for (const bool by_force : {false, true}) {
    Worker user;
    ASSERT_EQ(user.ask([] { return aclrtSetDevice(2); }), ACL_SUCCESS);
    ASSERT_EQ(user.ask(fill_bins), ACL_SUCCESS);
    const std::size_t before = user.ask(free_bytes);
    std::vector<void*> blocks(3);
    for (std::size_t i = 0; i < 3; ++i)
      ASSERT_EQ(user.ask([&] { return aclrtMalloc(&blocks[i], kSizes[i], ACL_MEM_MALLOC_HUGE_FIRST); }),
                ACL_SUCCESS);
    ASSERT_EQ(by_force ? aclrtResetDeviceForce(2) : aclrtResetDevice(2), ACL_SUCCESS);
    for (void* block : blocks)
      EXPECT_EQ(user.ask([&] { return aclrtFree(block); }), ACL_ERROR_RT_PARAM_INVALID)
          << "gone with the device";
    expect_no_context(user);
    ASSERT_EQ(user.ask([] { return aclrtSetDevice(2); }), ACL_SUCCESS);
    EXPECT_EQ(user.ask(free_bytes), before);
    EXPECT_EQ(user.ask(fill_bins), ACL_SUCCESS);
    EXPECT_EQ(user.ask(free_bytes), before);
    EXPECT_EQ(user.ask([] { return aclrtResetDevice(2); }), ACL_SUCCESS);
    expect_no_context(user);
  }
}

TEST_F(FastPathContexts, R63_M405_M408_ResetAgainAndAgain_WithBlocksAlive) {
  Worker user;
  for (int round = 0; round < slice(30, 600); ++round) {
    ASSERT_EQ(user.ask([] { return aclrtSetDevice(3); }), ACL_SUCCESS);
    const std::size_t before = user.ask(free_bytes);
    std::vector<void*> blocks(100);
    for (std::size_t i = 0; i < blocks.size(); ++i)
      ASSERT_EQ(user.ask([&] { return aclrtMalloc(&blocks[i], kSizes[i % 3], ACL_MEM_MALLOC_HUGE_FIRST); }),
                ACL_SUCCESS);
    for (std::size_t i = 0; i < 50; ++i)
      ASSERT_EQ(user.ask([&] { return aclrtFree(blocks[i]); }), ACL_SUCCESS);
    ASSERT_EQ(user.ask([] { return aclrtResetDevice(3); }), ACL_SUCCESS);
    ASSERT_EQ(user.ask([] { return allocate(); }), ACL_ERROR_RT_CONTEXT_NULL);
    ASSERT_EQ(user.ask([] { return aclrtSetDevice(3); }), ACL_SUCCESS);
    ASSERT_EQ(user.ask(free_bytes), before) << "round " << round;
    ASSERT_EQ(app_usage(3).current, 0U);
    for (void* block : blocks) ASSERT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
    ASSERT_EQ(user.ask([] { return aclrtResetDevice(3); }), ACL_SUCCESS);
  }
}

struct Location {
  std::uint32_t id;
  std::size_t page;
};
Location location_of(const void* block) {
  aclrtPtrAttributes attributes{};
  EXPECT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
  EXPECT_EQ(attributes.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  return {attributes.location.id, attributes.pageSize};
}

std::size_t free_on(std::int32_t device) {
  std::int32_t before = -1;
  EXPECT_EQ(aclrtGetDevice(&before), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
  const std::size_t free = free_bytes();
  EXPECT_EQ(aclrtResetDevice(device), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(before), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(before), ACL_SUCCESS);
  return free;
}

// The same sizes on both, and each freed while the thread is on the other one.
TEST_F(FastPathContexts, R57_M11_M430_AThreadThatSwitches_GetsMemoryOfTheRightDevice) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  const std::size_t before[2] = {free_on(0), free_on(1)};
  const aclrtContext contexts[2] = {made_on(0), made_on(1)};
  for (int round = 0; round < 300; ++round) {
    void* blocks[2][std::size(kSizes)] = {};
    std::size_t taken[2] = {};
    for (const int device : {0, 1}) {
      if (round % 2 == 0) {
        ASSERT_EQ(aclrtSetDevice(device), ACL_SUCCESS);
      } else {
        ASSERT_EQ(aclrtSetCurrentContext(contexts[device]), ACL_SUCCESS);
      }
      for (std::size_t i = 0; i < std::size(kSizes); ++i) {
        if (device == 1 && i == 0 && round % 3 == 0) continue;  // now and then not the same on both
        ASSERT_EQ(aclrtMalloc(&blocks[device][i], kSizes[i], ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        const Taken rule = documented(kMalloc, kSizes[i], kHugeFirst);
        taken[device] += rule.bytes;
        ASSERT_EQ(location_of(blocks[device][i]).id, static_cast<std::uint32_t>(device)) << "round " << round;
        ASSERT_EQ(location_of(blocks[device][i]).page, rule.page);
      }
    }
    for (const int device : {0, 1}) {
      ASSERT_EQ(app_usage(device).current, taken[device]) << "round " << round << " device " << device;
      ASSERT_EQ(before[device] - free_on(device), taken[device]) << "round " << round << " device " << device;
    }
    for (void* block : blocks[0]) ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (void* block : blocks[1]) {
      if (block != nullptr) {
        ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
      }
    }
    for (const int device : {0, 1}) ASSERT_EQ(free_on(device), before[device]) << "round " << round;
  }
  for (const aclrtContext context : contexts) EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

// Blocks of the other device's contents: the same size, on two devices, freed and allocated in turn.
TEST_F(FastPathContexts, M11_M112_BlocksOfSeveralDevices_FreedByThreadsOfOthers) {
  constexpr std::int32_t kDevices = 4;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::size_t> before;
  for (std::int32_t device = 0; device < kDevices; ++device) {
    workers.push_back(std::make_unique<Worker>());
    ASSERT_EQ(workers.back()->ask([=] { return aclrtSetDevice(device); }), ACL_SUCCESS);
    before.push_back(workers.back()->ask(free_bytes));
  }
  for (int round = 0; round < slice(200, 5000); ++round) {
    std::vector<void*> blocks(kDevices);
    for (std::size_t i = 0; i < kDevices; ++i) {
      ASSERT_EQ(workers[i]->ask([&] { return aclrtMalloc(&blocks[i], 3 * kMB, ACL_MEM_MALLOC_HUGE_FIRST); }),
                ACL_SUCCESS);
      ASSERT_EQ(location_of(blocks[i]).id, i);
    }
    for (std::size_t i = 0; i < kDevices; ++i) {
      const std::size_t who = (i + static_cast<std::size_t>(round)) % kDevices;
      ASSERT_EQ(workers[who]->ask([&] { return aclrtFree(blocks[i]); }), ACL_SUCCESS);
    }
    for (std::size_t i = 0; i < kDevices; ++i) ASSERT_EQ(workers[i]->ask(free_bytes), before[i]) << round;
  }
}

// The child knows nothing of what its parent's thread had at hand.
TEST_F(FastPathContexts, R69_D72_AForkedChildStartsAfresh_AndTheParentGoesOn) {
  ASSERT_EQ(fill_bins(), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  const std::size_t before = free_bytes();
  in_fresh_process([&] {
    EXPECT_EQ(allocate(), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const std::size_t here = free_bytes();
    EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(fill_bins(), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), here);
    EXPECT_EQ(app_usage().peak, documented(kMalloc, 2 * kMB, kHugeFirst).bytes);
  });
  EXPECT_EQ(free_bytes(), before);
  EXPECT_EQ(fill_bins(), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

}  // namespace fast_path_contexts_test
