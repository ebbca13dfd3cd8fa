// Many threads at once, and nobody waits for anybody.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <random>
#include <thread>

#include "support/allocators.h"
#include "support/on_product.h"
#include "support/slices.h"

namespace threads_test {

using namespace belay_test;
using namespace std::chrono_literals;

constexpr int kThreads = 64;

class Threads : public OnDevice {};

void in_threads(const std::function<void(int)>& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(body, i);
  for (std::thread& thread : threads) thread.join();
}

// Each block is filled with a byte of its owner when it is made and must still hold it when it is freed.
TEST_F(Threads, M11_SixtyFourThreadsAllocateAndFreeOnOneDevice) {
  std::atomic<int> wrong{0};
  in_threads([&](int number) {
    if (aclrtSetDevice(0) != ACL_SUCCESS) ++wrong;
    std::mt19937 random = test_random(static_cast<unsigned>(number));
    struct Held {
      void* start;
      std::size_t marked;
    };
    std::vector<Held> held;
    const auto mark = static_cast<unsigned char>(number + 1);
    const auto give_back = [&](const Held& block) {
      std::vector<unsigned char> bytes(block.marked);
      if (aclrtMemcpy(bytes.data(), bytes.size(), block.start, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST) != 0)
        ++wrong;
      for (const unsigned char byte : bytes) wrong += byte != mark;
      if (aclrtFree(block.start) != ACL_SUCCESS) ++wrong;
    };
    const std::vector<Allocator> allocators = all_allocators();
    for (int round = 0, rounds = slice(150, 3000); round < rounds; ++round) {
      const Allocator& allocator = allocators[random() % allocators.size()];
      const std::size_t size = 1 + random() % (round % 8 == 0 ? 4 * kMB : 9000);
      Held block{nullptr, std::min<std::size_t>(size, 2000)};
      if (allocator.call(&block.start, size, policy(static_cast<std::uint32_t>(random() % 3))) !=
          ACL_SUCCESS) {
        ++wrong;
        continue;
      }
      if (aclrtMemset(block.start, size, mark, block.marked) != ACL_SUCCESS) ++wrong;
      held.push_back(block);
      if (held.size() > 6) {
        const std::size_t which = random() % held.size();
        give_back(held[which]);
        held.erase(held.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
    for (const Held& block : held) give_back(block);
    aclrtResetDevice(0);
  });
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(free_bytes(), free_before_);
}

TEST_F(Threads, M11_BlocksMayBeFreedByAnyThreadUnderAnyContext) {
  std::mutex lock;
  std::condition_variable filled;
  std::deque<void*> queue;
  constexpr int kBlocks = 2000;
  std::thread consumer([&] {  // without a context of its own
    for (int i = 0; i < kBlocks; ++i) {
      std::unique_lock guard(lock);
      filled.wait(guard, [&] { return !queue.empty(); });
      void* block = queue.front();
      queue.pop_front();
      guard.unlock();
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    }
  });
  for (int i = 0; i < kBlocks; ++i) {
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 1 + static_cast<std::size_t>(i), ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    const std::lock_guard guard(lock);
    queue.push_back(block);
    filled.notify_one();
  }
  consumer.join();
  EXPECT_EQ(free_bytes(), free_before_);

  Block block(kMalloc, 64, kHugeFirst);
  aclrtContext other = nullptr;
  ASSERT_EQ(aclrtCreateContext(&other, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block.release()), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(other), ACL_SUCCESS);
}

TEST(ThreadsOnASmallDevice, M11_M86_ExactlyThePagesThatExistAreHandedOut) {
  on_product("A2", {{"BELAY_HBM", "64M"}}, [] {
    std::atomic<int> got{0}, short_of{0}, wrong{0};
    std::mutex lock;
    std::vector<void*> blocks;
    in_threads([&](int) {
      aclrtSetDevice(0);
      for (int i = 0; i < 2; ++i) {
        void* block = nullptr;
        const aclError code = aclrtMalloc(&block, 1, ACL_MEM_MALLOC_HUGE_ONLY);
        (code == ACL_SUCCESS ? got : code == ACL_ERROR_RT_MEMORY_ALLOCATION ? short_of : wrong)++;
        const std::lock_guard guard(lock);
        if (block != nullptr) blocks.push_back(block);
      }
    });
    EXPECT_EQ(got, 32);
    EXPECT_EQ(short_of, 2 * kThreads - 32);
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(free_bytes(), 0U);
    for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), 64 * kMB);
  });
}

TEST_F(Threads, M11_OneBlockFreedByAllAtOnceIsFreedOnce) {
  for (int round = 0; round < slice(20, 1000); ++round) {
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    std::atomic<int> freed{0}, unknown{0};
    in_threads([&](int) {
      const aclError code = aclrtFree(block);
      if (code == ACL_SUCCESS) ++freed;
      if (code == ACL_ERROR_RT_PARAM_INVALID) ++unknown;
    });
    EXPECT_EQ(freed, 1);
    EXPECT_EQ(unknown, kThreads - 1);
  }
}

// Whether the call is over before the other side lets go.
bool returns_soon(const std::function<void()>& call, const std::function<void()>& let_go) {
  auto done = std::async(std::launch::async, [&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    call();
    aclrtResetDevice(0);
  });
  const bool soon = done.wait_for(20s) == std::future_status::ready;
  let_go();
  done.wait();
  return soon;
}

struct Gate {
  std::promise<void> entered;
  std::promise<void> leave;
  static void hold(int32_t device, aclrtDeviceState state, void* self) {
    if (device != 1 || state != ACL_RT_DEVICE_STATE_SET_PRE) return;
    static_cast<Gate*>(self)->entered.set_value();
    static_cast<Gate*>(self)->leave.get_future().wait();
  }
};

TEST(ThreadsWithAHeldDevice, M12_M90_M114_NoMemoryFunctionWaitsForABusyDevice) {
  on_product("A2", {}, [] {
    Gate gate;
    ASSERT_EQ(aclrtRegDeviceStateCallback("gate", &Gate::hold, &gate), ACL_SUCCESS);
    std::thread opening([] {  // device 1 is being opened all the while
      EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    });
    gate.entered.get_future().wait();
    const auto calls = [] {
      char host[4096] = {};
      std::size_t free = 0, total = 0;
      aclrtPtrAttributes attributes{};
      for (const Allocator& allocator : all_allocators()) {
        void* block = nullptr;
        EXPECT_EQ(allocator.call(&block, sizeof host, policy(kHugeFirst)), ACL_SUCCESS);
        EXPECT_EQ(aclrtMemset(block, sizeof host, 1, sizeof host), ACL_SUCCESS);
        EXPECT_EQ(aclrtMemcpy(host, sizeof host, block, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
        EXPECT_EQ(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total), ACL_SUCCESS);
        EXPECT_EQ(aclrtPointerGetAttributes(block, &attributes), ACL_SUCCESS);
        EXPECT_EQ(aclrtMemFlush(block, 1), ACL_SUCCESS);
        EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
      }
      void* pinned = nullptr;
      EXPECT_EQ(aclrtMallocHost(&pinned, 64), ACL_SUCCESS);
      EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
    };
    EXPECT_TRUE(returns_soon(calls, [&] { gate.leave.set_value(); }));
    opening.join();
  });
}

TEST(ThreadsOnASmallDevice, M90_ShortageIsAnsweredAtOnceThoughMemoryWillComeFree) {
  on_product("A2", {{"BELAY_HBM", "64M"}}, [] {
    void* all = nullptr;
    ASSERT_EQ(aclrtMallocAlign32(&all, 64 * kMB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
    std::promise<void> asked;
    std::thread owner([&] {
      asked.get_future().wait();
      EXPECT_EQ(aclrtFree(all), ACL_SUCCESS);
    });
    const auto calls = [] {
      for (const Allocator& allocator : all_allocators()) {
        void* block = nullptr;
        EXPECT_EQ(allocator.call(&block, 1, policy(kHugeOnly)), ACL_ERROR_RT_MEMORY_ALLOCATION)
            << allocator.name;
        EXPECT_EQ(block, nullptr);
      }
    };
    EXPECT_TRUE(returns_soon(calls, [&] { asked.set_value(); }));
    owner.join();
    void* again = nullptr;
    EXPECT_EQ(aclrtMallocAlign32(&again, 64 * kMB, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(again), ACL_SUCCESS);
  });
}

}  // namespace threads_test
