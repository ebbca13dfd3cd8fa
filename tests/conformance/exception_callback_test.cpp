// Functions of the program that are called when a task fails.
#include <unistd.h>

#include <sys/syscall.h>

#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "support/gates.h"
#include "support/worker.h"

namespace exception_callback_test {

using namespace belay_test;

struct Told {
  int who;
  std::uint32_t task, stream, thread, device, code;
};
std::mutex mutex;
std::vector<Told> told;
std::function<void()> inside;  // what the first function does besides

void note(int who, aclrtExceptionInfo* info) {
  const std::lock_guard lock(mutex);
  told.push_back({who, aclrtGetTaskIdFromExceptionInfo(info), aclrtGetStreamIdFromExceptionInfo(info),
                  aclrtGetThreadIdFromExceptionInfo(info), aclrtGetDeviceIdFromExceptionInfo(info),
                  aclrtGetErrorCodeFromExceptionInfo(info)});
}
void first(aclrtExceptionInfo* info) {
  note(1, info);
  if (inside) inside();
}
void second(aclrtExceptionInfo* info) { note(2, info); }
void third(aclrtExceptionInfo* info) { note(3, info); }

// Who was called since the last time, sorted.
std::vector<int> who() {
  const std::lock_guard lock(mutex);
  std::vector<int> all;
  for (const Told& one : told) all.push_back(one.who);
  std::sort(all.begin(), all.end());
  told.clear();
  return all;
}
using Who = std::vector<int>;

class ExceptionCallback : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    told.clear();
    inside = nullptr;
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
    for (const aclrtExceptionInfoCallback one : {first, second, third})
      EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(one), ACL_SUCCESS);
    OnDevice::TearDown();
  }
  // Who is called when a task fails.
  static Who after_a_failure() {
    const Failing failing;
    const Stream stream;
    failing.queue(stream.get());
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
    return who();
  }
};

TEST_F(ExceptionCallback, R223_OneSlot_TheLastWins) {
  EXPECT_EQ(after_a_failure(), Who{});
  EXPECT_EQ(aclrtSetExceptionInfoCallback(first), ACL_SUCCESS);
  EXPECT_EQ(after_a_failure(), Who{1});
  EXPECT_EQ(aclrtSetExceptionInfoCallback(first), ACL_SUCCESS);
  EXPECT_EQ(after_a_failure(), Who{1});
  EXPECT_EQ(aclrtSetExceptionInfoCallback(second), ACL_SUCCESS);
  EXPECT_EQ(after_a_failure(), Who{2});
  EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
  EXPECT_EQ(after_a_failure(), Who{});
  EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS) << "empty already";
}

TEST_F(ExceptionCallback, R223_TheSlotAndTheListAreSeparate) {
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetExceptionInfoCallback(first), ACL_SUCCESS);
  EXPECT_EQ(after_a_failure(), (Who{1, 2}));
  EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
  EXPECT_EQ(after_a_failure(), Who{2});
  EXPECT_EQ(aclrtSetExceptionInfoCallback(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(first), ACL_SUCCESS) << "never registered";
  EXPECT_EQ(after_a_failure(), Who{1}) << "the slot is as it was";
}

TEST_F(ExceptionCallback, R224_TheListHoldsEachOnce) {
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(nullptr), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(nullptr), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(third), ACL_SUCCESS) << "unknown";
  for (const aclrtExceptionInfoCallback one : {first, second, third, second, second})
    EXPECT_EQ(aclrtExceptionInfoCallbackRegister(one), ACL_SUCCESS);
  EXPECT_EQ(after_a_failure(), (Who{1, 2, 3}));
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(second), ACL_SUCCESS);
  EXPECT_EQ(after_a_failure(), (Who{1, 3})) << "there was a single entry";
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(second), ACL_SUCCESS);
  EXPECT_EQ(after_a_failure(), (Who{1, 2, 3}));
}

TEST_F(ExceptionCallback, R225_SetAndRegisteredIsCalledTwice) {
  EXPECT_EQ(aclrtSetExceptionInfoCallback(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(first), ACL_SUCCESS);
  EXPECT_EQ(after_a_failure(), (Who{1, 1}));
}

TEST_F(ExceptionCallback, R224_R11_NoContextIsNeeded) {
  without_context([] {
    EXPECT_EQ(aclrtSetExceptionInfoCallback(first), ACL_SUCCESS);
    EXPECT_EQ(aclrtExceptionInfoCallbackRegister(second), ACL_SUCCESS);
  });
  EXPECT_EQ(after_a_failure(), (Who{1, 2})) << "of the process, not of the thread";
}

// The function has been called before anybody can see the failure, in whatever way he looks.
TEST_F(ExceptionCallback, R226_CalledBeforeTheFailureIsSeen) {
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(first), ACL_SUCCESS);
  const Failing failing;
  const Stream stream;
  const Event event;
  for (int round = 0; round < 50; ++round) {
    failing.queue(stream.get());
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
    EXPECT_EQ(who(), Who{1});
    failing.queue(stream.get());
    EXPECT_EQ(::aclrtSynchronizeDevice(), kRefused);
    EXPECT_EQ(who(), Who{1});
    failing.queue(stream.get());
    EXPECT_TRUE(eventually([&] {
      aclrtStreamStatus status{};
      return aclrtStreamQuery(stream.get(), &status) == kRefused;
    }));
    EXPECT_EQ(who(), Who{1});
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
    failing.queue(stream.get());
    event.record(stream.get());
    EXPECT_TRUE(eventually([&] { return event.complete(); }));
    EXPECT_EQ(who(), Who{1});
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
  }
}

TEST_F(ExceptionCallback, R226_OncePerFailure_FromManyStreams) {
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(first), ACL_SUCCESS);
  const Failing failing;
  std::vector<std::unique_ptr<Stream>> streams;
  for (int i = 0; i < 16; ++i) streams.push_back(std::make_unique<Stream>());
  for (int round = 0; round < 10; ++round)
    for (const auto& stream : streams) failing.queue(stream->get());
  for (const auto& stream : streams) EXPECT_EQ(::aclrtSynchronizeStream(stream->get()), kRefused);
  EXPECT_EQ(who().size(), 160U);
}

TEST_F(ExceptionCallback, R227_NoInfo) {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  EXPECT_EQ(aclrtGetTaskIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetStreamIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetThreadIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetDeviceIdFromExceptionInfo(nullptr), kNone);
  EXPECT_EQ(aclrtGetErrorCodeFromExceptionInfo(nullptr), kNone);
  without_context([=] { EXPECT_EQ(aclrtGetTaskIdFromExceptionInfo(nullptr), kNone); });
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

TEST_F(ExceptionCallback, R227_TheFiveNumbers) {
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(first), ACL_SUCCESS);
  const Failing failing;
  const Marks marks;
  const Stream one, two;
  std::uint32_t task = 0, thread = 0;
  on_new_thread([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    marks.queue(one.get());
    failing.queue(one.get());
    EXPECT_EQ(aclrtGetThreadLastTaskId(&task), ACL_SUCCESS);
    thread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    marks.queue(one.get());
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(::aclrtSynchronizeStream(one.get()), kRefused);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].task, task);
  EXPECT_EQ(told[0].stream, static_cast<std::uint32_t>(id_of(one.get())));
  EXPECT_EQ(told[0].thread, thread) << "who submitted, not who synchronises";
  EXPECT_EQ(told[0].device, 0U);
  EXPECT_EQ(told[0].code, 507899U);
  told.clear();
  failing.queue(two.get());
  EXPECT_EQ(aclrtGetThreadLastTaskId(&task), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeStream(two.get()), kRefused);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].task, task);
  EXPECT_EQ(told[0].stream, static_cast<std::uint32_t>(id_of(two.get())));
  EXPECT_EQ(told[0].thread, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
}

TEST_F(ExceptionCallback, R228_R200_MemoryMayBeAllocatedInside_ButNotWaited) {
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(first), ACL_SUCCESS);
  const Failing failing;
  const Marks marks;
  const Stream stream;
  aclError allocated = -1, freed = -1, waited = -1, waited_with_time = -1;
  inside = [&] {
    void* block = nullptr;
    allocated = ::aclrtMallocHost(&block, 64);
    freed = aclrtFreeHost(block);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    waited = ::aclrtSynchronizeStream(stream.get());
    waited_with_time = aclrtSynchronizeStreamWithTimeout(stream.get(), 20000);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  };
  failing.queue(stream.get());
  marks.queue(stream.get());
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
  EXPECT_EQ(who(), Who{1});
  EXPECT_EQ(allocated, ACL_SUCCESS);
  EXPECT_EQ(freed, ACL_SUCCESS);
  EXPECT_EQ(waited, kInternal);
  EXPECT_EQ(waited_with_time, kInternal);
  EXPECT_TRUE(marks.set()) << "the stream goes on";
  inside = nullptr;
}

// Every way in which a task can fail, with its code.
TEST_F(ExceptionCallback, R229_WhatFails) {
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(first), ACL_SUCCESS);
  const Stream stream;
  aclrtStream const s = stream.get();
  const auto expect_told = [&](aclError code, const char* what) {
    EXPECT_EQ(::aclrtSynchronizeStream(s), code) << what;
    ASSERT_EQ(told.size(), 1U) << what;
    EXPECT_EQ(told[0].code, static_cast<std::uint32_t>(code)) << what;
    told.clear();
  };
  const auto with_freed_memory = [&](const std::function<aclError(void*)>& queue) {
    const WordGate gate;
    Device block(8 * kMB, ACL_MEM_MALLOC_HUGE_ONLY);
    gate.hold(s);
    EXPECT_EQ(queue(block.get()), ACL_SUCCESS);
    block.free_now();
    gate.open();
    EXPECT_TRUE(eventually([&] {
      aclrtStreamStatus status{};
      return aclrtStreamQuery(s, &status) != ACL_SUCCESS;
    }));
  };
  Pinned pinned(64);
  Device good(64);
  with_freed_memory([&](void* block) { return ::aclrtMemsetAsync(block, 64, 1, 64, s); });
  expect_told(kRefused, "fill");
  with_freed_memory([&](void* block) { return aclrtMemsetD32Async(block, 64, 1, 16, s); });
  expect_told(kRefused, "fill of words");
  with_freed_memory([&](void* block) {
    return ::aclrtMemcpyAsync(block, 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, s);
  });
  expect_told(kRefused, "copy to it");
  with_freed_memory([&](void* block) {
    return ::aclrtMemcpyAsync(pinned.get(), 64, block, 64, ACL_MEMCPY_DEVICE_TO_HOST, s);
  });
  expect_told(kRefused, "copy from it");
  with_freed_memory([&](void* block) {
    return ::aclrtMemcpyAsync(good.get(), 64, block, 64, ACL_MEMCPY_DEVICE_TO_DEVICE, s);
  });
  expect_told(kRefused, "copy on the device");

  aclrtEvent never = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&never, ACL_EVENT_SYNC), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEventWithTimeout(s, never, 1), ACL_SUCCESS);
  expect_told(kTaskTimeout, "wait for an event");
  EXPECT_EQ(aclrtDestroyEvent(never), ACL_SUCCESS);
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, s, 1), ACL_SUCCESS);
  expect_told(kTaskTimeout, "wait for a notify");
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(ExceptionCallback, R229_ARefusedCallIsNoFailedTask) {
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(first), ACL_SUCCESS);
  const Stream stream;
  Device block(64);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 63, 1, 64, stream.get()), kBadValue);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 1, 64, stale_stream()), kStale);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(who(), Who{});
}

}  // namespace exception_callback_test
