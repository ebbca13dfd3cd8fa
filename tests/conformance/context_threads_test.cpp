// Contexts that several threads use.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/device_fixture.h"
#include "support/slices.h"
#include "support/waiting.h"
#include "support/worker.h"

namespace context_threads_test {

using belay_test::kMB;
using belay_test::Worker;

class ContextThreads : public ::testing::Test {
 protected:
  void TearDown() override {
    for (std::int32_t device = 0; device < 8; ++device) aclrtResetDeviceForce(device);
  }
};

aclrtContext made_on(std::int32_t device) {
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtCreateContext(&context, device), ACL_SUCCESS);
  return context;
}

aclError allocate() {
  void* block = nullptr;
  const aclError answer = aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  if (answer == ACL_SUCCESS) {
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  }
  return answer;
}

aclError ask_device() {
  std::int32_t device = -1;
  return aclrtGetDevice(&device);
}

TEST_F(ContextThreads, R108_ManyThreadsOneContext) {
  const aclrtContext context = made_on(3);
  constexpr int kThreads = 64;
  std::atomic<int> ready{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      if (aclrtSetCurrentContext(context) != ACL_SUCCESS) ++wrong;
      ++ready;
      while (ready < kThreads) std::this_thread::yield();  // all have it current now
      aclrtContext seen = nullptr;
      std::int32_t device = -1;
      if (aclrtGetCurrentContext(&seen) != ACL_SUCCESS || seen != context) ++wrong;
      if (aclrtGetDevice(&device) != ACL_SUCCESS || device != 3) ++wrong;
      if (allocate() != ACL_SUCCESS) ++wrong;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(ContextThreads, R108_AThreadMayDestroyWhatAnotherMade) {
  const aclrtContext context = made_on(0);
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  Worker other;
  EXPECT_EQ(other.ask([&] { return aclrtDestroyContext(context); }), ACL_SUCCESS)
      << "without having bound it";
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(ContextThreads, R117_OtherThreadsLoseIt) {
  Worker user;
  const aclrtContext context = made_on(0);
  EXPECT_EQ(user.ask([&] { return aclrtSetCurrentContext(context); }), ACL_SUCCESS);
  EXPECT_EQ(user.ask(allocate), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(user.ask(allocate), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(user.ask(allocate), ACL_ERROR_RT_CONTEXT_NULL) << "and stay without";
  EXPECT_EQ(user.ask(ask_device), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(user.ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
  EXPECT_EQ(user.ask(allocate), ACL_SUCCESS);
}

TEST_F(ContextThreads, R117_R54_EvenIfTheyHadSetADevice) {
  Worker user;
  const aclrtContext context = made_on(0);
  EXPECT_EQ(user.ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
  EXPECT_EQ(user.ask([&] { return aclrtSetCurrentContext(context); }), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(user.ask(ask_device), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(ContextThreads, R115_R117_DestroyedButStillBound) {
  Worker user;
  const aclrtContext context = made_on(0);
  EXPECT_EQ(user.ask([&] { return aclrtSetCurrentContext(context); }), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR)
      << "another thread is bound to it";
  EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_PARAM_INVALID) << "and nobody can bind it again";
  EXPECT_EQ(user.ask(allocate), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_CONTEXT_NULL) << "now the last one has left";
}

TEST_F(ContextThreads, R115_EndedAndReboundThreadsAreNotBound) {
  const aclrtContext context = made_on(0);
  {
    Worker ended;
    EXPECT_EQ(ended.ask([&] { return aclrtSetCurrentContext(context); }), ACL_SUCCESS);
  }
  Worker rebound;
  EXPECT_EQ(rebound.ask([&] { return aclrtSetCurrentContext(context); }), ACL_SUCCESS);
  EXPECT_EQ(rebound.ask([] { return aclrtSetDevice(1); }), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_CONTEXT_NULL);
}

TEST_F(ContextThreads, R115_OfManyDestroyersOneSucceeds) {
  for (int round = 0; round < belay_test::slice(30, 600); ++round) {
    const aclrtContext context = made_on(0);
    constexpr int kThreads = 8;
    std::atomic<int> ready{0}, succeeded{0}, refused{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        const aclError answer = aclrtDestroyContext(context);
        if (answer == ACL_SUCCESS) ++succeeded;
        if (answer == ACL_ERROR_RT_CONTEXT_NULL || answer == ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) ++refused;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(succeeded, 1);
    EXPECT_EQ(refused, kThreads - 1);
    EXPECT_EQ(allocate(), ACL_ERROR_RT_CONTEXT_NULL);
  }
}

TEST_F(ContextThreads, R117_ANewContextIsNotMistakenForTheOld) {
  Worker user;
  const aclrtContext old = made_on(0);
  EXPECT_EQ(user.ask([&] { return aclrtSetCurrentContext(old); }), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(old), ACL_SUCCESS);
  std::vector<aclrtContext> others;
  for (int i = 0; i < 100; ++i) others.push_back(made_on(0));
  EXPECT_EQ(user.ask(allocate), ACL_ERROR_RT_CONTEXT_NULL);
  for (const aclrtContext context : others) EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

// A long copy runs in the context while it is destroyed: the copy that has begun is complete, and the
// next call finds no context.
TEST_F(ContextThreads, R120_ACallInProgressFinishes) {
  constexpr std::size_t kSize = 32 * kMB;
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, kSize, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  for (int round = 0; round < 8; ++round) {
    const aclrtContext context = made_on(0);
    std::atomic<bool> started{false};
    std::thread user([&] {
      EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      std::vector<unsigned char> bytes(kSize);
      for (;;) {
        const int value = round + 1;
        const aclError answer = aclrtMemset(block, kSize, value, kSize);
        started = true;
        if (answer == ACL_ERROR_RT_CONTEXT_NULL) break;
        ASSERT_EQ(answer, ACL_SUCCESS);
        const aclError copied = aclrtMemcpy(bytes.data(), kSize, block, kSize, ACL_MEMCPY_DEVICE_TO_HOST);
        if (copied == ACL_ERROR_RT_CONTEXT_NULL) break;
        ASSERT_EQ(copied, ACL_SUCCESS);
        EXPECT_EQ(bytes.front(), value);
        EXPECT_EQ(bytes[kSize / 2], value);
        EXPECT_EQ(bytes.back(), value);
      }
      EXPECT_EQ(allocate(), ACL_ERROR_RT_CONTEXT_NULL);
    });
    while (!started) std::this_thread::yield();
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    user.join();
    EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_CONTEXT_NULL) << "its last user has left";
  }
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

// Threads bind whatever context they find while others are made and destroyed.
TEST_F(ContextThreads, R108_R109_R117_R18_BindingWhileOthersDestroy) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  constexpr std::size_t kSlots = 8;
  std::atomic<aclrtContext> slots[kSlots] = {};
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0}, bound{0};
  std::vector<std::thread> users;
  for (int i = 0; i < 8; ++i) {
    users.emplace_back([&, i] {
      for (std::size_t round = static_cast<std::size_t>(i); !over; ++round) {
        const aclrtContext context = slots[round % kSlots];
        if (context == nullptr) continue;
        const aclError answer = aclrtSetCurrentContext(context);
        if (answer != ACL_SUCCESS && answer != ACL_ERROR_RT_PARAM_INVALID) ++wrong;
        const aclError use = allocate();
        if (use != ACL_SUCCESS && use != ACL_ERROR_RT_CONTEXT_NULL) ++wrong;
        if (answer == ACL_SUCCESS) ++bound;
      }
    });
  }
  for (int round = 0; round < belay_test::slice(60, 1500, 2); ++round) {
    const std::size_t slot = static_cast<std::size_t>(round) % kSlots;
    const aclrtContext old = slots[slot];
    if (old != nullptr) {
      EXPECT_EQ(aclrtDestroyContext(old), ACL_SUCCESS);
    }
    slots[slot] = made_on(0);
    std::this_thread::yield();
  }
  // On a busy machine the rounds may be over before anybody had a turn.
  EXPECT_TRUE(belay_test::eventually([&] { return bound > 0; })) << "nobody was ever bound";
  over = true;
  for (std::thread& user : users) user.join();
  for (std::atomic<aclrtContext>& slot : slots) EXPECT_EQ(aclrtDestroyContext(slot), ACL_SUCCESS);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  std::int32_t active = -1;
  EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, &active), ACL_SUCCESS);
  EXPECT_EQ(active, 0);
}

}  // namespace context_threads_test
