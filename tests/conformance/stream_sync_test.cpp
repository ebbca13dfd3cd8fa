// Waiting for a stream and asking it: what is waited for, for how long, and what the answer is.
#include <pthread.h>

#include <climits>
#include <cstdint>
#include <string>
#include <vector>

#include "support/gates.h"
#include "support/worker.h"

namespace stream_sync_test {

using namespace belay_test;

class StreamSync : public OnDevice {};

TEST_F(StreamSync, R139_WaitsForAllThatWasQueued) {
  const Marks marks;
  const Stream stream;
  for (int round = 0; round < 5; ++round) {
    HostGate gate;
    gate.hold(stream.get());
    for (std::size_t i = 0; i < marks.size(); ++i) marks.queue(stream.get(), i, round + 1);
    const OpensLater later(gate, 20ms);
    EXPECT_EQ(round % 2 == 0 ? ::aclrtSynchronizeStream(stream.get())
                             : aclrtSynchronizeStreamWithTimeout(stream.get(), -1),
              ACL_SUCCESS);
    EXPECT_TRUE(gate.left());
    EXPECT_FALSE(gate.gave_up());
    for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_EQ(marks.get(i), round + 1);
  }
}

TEST_F(StreamSync, R139_R13_NullIsTheDefaultStream) {
  const Marks marks;
  HostGate gate;
  gate.hold(nullptr);
  marks.queue(nullptr);
  const OpensLater later(gate);
  EXPECT_EQ(::aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(marks.set());
}

// What is queued while somebody waits does not make him wait longer.
TEST_F(StreamSync, R139_OnlyForWhatWasQueuedBeforeTheCall) {
  const Stream stream;
  EXPECT_TRUE(with_growing_delay([&](std::chrono::milliseconds delay) {
    const WordGate first, second;
    first.hold(stream.get());
    Waiting waiting([&] { return ::aclrtSynchronizeStream(stream.get()); });
    let_time_pass(delay);
    second.hold(stream.get());
    first.open();
    const bool in_time = eventually([&] { return waiting.back(); }, delay + 1s);
    second.open();
    EXPECT_EQ(waiting.fetch(), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
    return in_time;
  }));
}

TEST_F(StreamSync, R139_FromAnyContext) {
  const Marks marks;
  const Stream stream;
  HostGate gate;
  gate.hold(stream.get());
  marks.queue(stream.get());
  const OwnContext context;
  {
    const OpensLater later(gate);
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
    EXPECT_TRUE(marks.set());
  }
  EXPECT_EQ(current_context(), context.get()) << "the current context stays";
  on_new_thread([&] {
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS) << "nor need it be the device";
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.get(), 1000), ACL_SUCCESS);
    EXPECT_EQ(status_of(stream.get()), ACL_STREAM_STATUS_COMPLETE);
    EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  });
}

TEST_F(StreamSync, R139_R19_SomeContextIsNeeded) {
  const Stream stream;
  without_context([&] {
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.get(), 5), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_EQ(aclrtStreamQuery(stream.get(), &status), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    EXPECT_EQ(status, ACL_STREAM_STATUS_RESERVED);
  });
}

TEST_F(StreamSync, R16_R139_ManyMayWaitForOneStream) {
  const Marks marks;
  const Stream stream;
  HostGate gate;
  gate.hold(stream.get());
  marks.queue(stream.get());
  {
    std::vector<std::unique_ptr<Waiting>> all;
    for (int i = 0; i < 16; ++i) {
      all.push_back(std::make_unique<Waiting>([&] {
        const aclError answer = ::aclrtSynchronizeStream(stream.get());
        return marks.set() ? answer : -1;
      }));
    }
    gate.open();
    for (auto& one : all) EXPECT_EQ(one->fetch(), ACL_SUCCESS);
  }
}

// One failure after the other, of different kinds: the first is told.
TEST_F(StreamSync, R140_R16_TheFirstErrorOfTheStream) {
  const Failing failing;
  aclrtNotify never = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&never, 0), ACL_SUCCESS);
  const Stream stream;
  failing.queue(stream.get());
  EXPECT_EQ(aclrtWaitAndResetNotify(never, stream.get(), 1), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS) << "told once";

  EXPECT_EQ(aclrtWaitAndResetNotify(never, stream.get(), 1), ACL_SUCCESS);
  failing.queue(stream.get());
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.get(), -1), kTaskTimeout);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(never), ACL_SUCCESS);
}

TEST_F(StreamSync, R141_TheTimeMustBePositiveOrMinusOne) {
  const Stream stream;
  for (const std::int32_t timeout : {0, -2, -3, -1000, INT_MIN, INT_MIN + 1}) {
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.get(), timeout), kBadValue) << timeout;
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(nullptr, timeout), kBadValue) << timeout;
  }
  for (const std::int32_t timeout : {-1, 1, 2, 1000, INT_MAX - 1, INT_MAX})
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.get(), timeout), ACL_SUCCESS) << timeout;
}

TEST_F(StreamSync, R141_R20_LessThanMinusOneIsCaughtAtTheDoor) {
  aclrtStream const stale = stale_stream();
  last_error();
  for (const std::int32_t timeout : {-2, INT_MIN}) {
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stale, timeout), kBadValue) << "before the stream";
    without_context([timeout] { EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(nullptr, timeout), kBadValue); });
  }
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(nullptr, 0), kBadValue);
  EXPECT_EQ(last_error(), kBadValue) << "0 is not";
}

TEST_F(StreamSync, R141_WhenTheTimeIsOverNothingIsCancelled) {
  const Marks marks;
  const WordGate gate;
  const Stream stream;
  gate.hold(stream.get());
  marks.queue(stream.get());
  for (const std::int32_t timeout : {1, 2, 50}) {
    recent_message();
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.get(), timeout), kStreamTimeout);
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{timeout});
    EXPECT_EQ(last_error(), kStreamTimeout);
    EXPECT_TRUE(mentions(recent_message(), "EE1002"));
    EXPECT_EQ(status_of(stream.get()), ACL_STREAM_STATUS_NOT_READY);
  }
  EXPECT_FALSE(marks.set());
  gate.open();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream.get(), 60000), ACL_SUCCESS) << "it may be repeated";
  EXPECT_TRUE(marks.set());
}

TEST_F(StreamSync, R142_TheSpecialKindsAreNeverWaitedFor) {
  const Marks marks;
  const WordGate never;
  for (const std::uint32_t flag :
       {ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
    aclrtStream const stream = new_stream(flag);
    if (flag != ACL_STREAM_DEVICE_USE_ONLY) {
      never.hold(stream);
      marks.queue(stream);
    }
    EXPECT_EQ(::aclrtSynchronizeStream(stream), ACL_SUCCESS) << flag;
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 1), ACL_SUCCESS) << flag;
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, -1), ACL_SUCCESS) << flag;
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 0), kBadValue) << flag;
    EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  }
}

// What a callback of a stream gets when it waits for that stream: it would wait for itself.
struct Answers {
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  void* block = nullptr;
  std::vector<std::pair<std::string, aclError>> got;

  static void ask(void* pointer) {
    auto& all = *static_cast<Answers*>(pointer);
    Bytes bytes(64);
    aclrtContext context = nullptr;
    all.got = {
        {"stream", ::aclrtSynchronizeStream(all.stream)},
        {"stream with a time", aclrtSynchronizeStreamWithTimeout(all.stream, 20000)},
        {"device", ::aclrtSynchronizeDevice()},
        {"device with a time", aclrtSynchronizeDeviceWithTimeout(20000)},
        {"event", ::aclrtSynchronizeEvent(all.event)},
        {"destroy", aclrtDestroyStream(all.stream)},
        {"pageable copy",
         ::aclrtMemcpyAsync(bytes.data(), 64, all.block, 64, ACL_MEMCPY_DEVICE_TO_HOST, all.stream)},
        {"free after waiting", aclrtFreeWithDevSync(all.block)},
    };
    if (aclrtGetCurrentContext(&context) == ACL_SUCCESS)
      all.got.emplace_back("context", aclrtDestroyContext(context));
  }
  void expect_refused() const {
    EXPECT_GE(got.size(), 8U) << "the callback ran";
    for (const auto& [what, answer] : got) EXPECT_EQ(answer, kInternal) << what;
  }
};

TEST_F(StreamSync, R143_R200_AHostFunctionCannotWaitForItsOwnStream) {
  const OwnContext context;
  Stream stream;
  const Event event;
  Device block(64);
  const Marks marks;
  Answers answers{stream.get(), event.get(), block.get(), {}};
  const WordGate gate;
  gate.hold(stream.get());
  EXPECT_EQ(aclrtLaunchHostFunc(stream.get(), Answers::ask, &answers), ACL_SUCCESS);
  event.record(stream.get());
  marks.queue(stream.get());
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  answers.expect_refused();
  EXPECT_TRUE(marks.set()) << "and the stream goes on";
}

TEST_F(StreamSync, R143_R200_NorCanACallback) {
  const Marks marks;
  const Stream stream;
  const Event event;
  Device block(64);
  Answers answers{stream.get(), event.get(), block.get(), {}};
  const auto thread = static_cast<std::uint64_t>(pthread_self());
  EXPECT_EQ(aclrtSubscribeReport(thread, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchCallback(Answers::ask, &answers, ACL_CALLBACK_BLOCK, stream.get()), ACL_SUCCESS);
  event.record(stream.get());
  marks.queue(stream.get());
  EXPECT_EQ(aclrtProcessReport(60000), ACL_SUCCESS);
  ASSERT_GE(answers.got.size(), 8U);
  if (answers.got.back().first == "context") answers.got.pop_back();  // the default one: R-114 is first
  answers.expect_refused();
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  EXPECT_TRUE(marks.set());
  EXPECT_EQ(aclrtUnSubscribeReport(thread, stream.get()), ACL_SUCCESS);
}

// The other stream has a function of its own to call, by the very thread that waits.
TEST_F(StreamSync, R143_R200_NorForTheDevice_WhateverElseIsQueued) {
  const Stream before, stream, after;
  struct Asking {
    std::atomic<bool> running{false};
    aclError answer = -1, answer_with_time = -1;
    std::atomic<bool> go{false};
  } asking;
  EXPECT_EQ(aclrtLaunchHostFunc(
                stream.get(),
                [](void* pointer) {
                  auto& self = *static_cast<Asking*>(pointer);
                  self.running = true;
                  EXPECT_TRUE(eventually([&self] { return self.go.load(); }));
                  self.answer_with_time = aclrtSynchronizeDeviceWithTimeout(20000);
                  if (self.answer_with_time == kInternal) self.answer = ::aclrtSynchronizeDevice();
                },
                &asking),
            ACL_SUCCESS);
  EXPECT_TRUE(eventually([&] { return asking.running.load(); }));
  for (aclrtStream other : {before.get(), after.get()})
    EXPECT_EQ(aclrtLaunchHostFunc(
                  other, [](void*) {}, nullptr),
              ACL_SUCCESS);
  asking.go = true;
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(asking.answer_with_time, kInternal);
  EXPECT_EQ(asking.answer, kInternal);
  EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(StreamSync, R145_CompleteOrNotReady) {
  const Marks marks;
  const WordGate gate;
  const Stream stream;
  EXPECT_EQ(aclrtStreamQuery(stream.get(), nullptr), kBadArgument);
  EXPECT_EQ(aclrtStreamQuery(stale_stream(), nullptr), kBadArgument) << "the pointer is looked at first";
  EXPECT_EQ(status_of(stream.get()), ACL_STREAM_STATUS_COMPLETE) << "nothing was ever queued";
  EXPECT_EQ(status_of(nullptr), ACL_STREAM_STATUS_COMPLETE);
  gate.hold(stream.get());
  marks.queue(stream.get());
  last_error();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(status_of(stream.get()), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(last_error(), ACL_SUCCESS) << "not ready is no error";
  EXPECT_EQ(status_of(nullptr), ACL_STREAM_STATUS_COMPLETE) << "another stream";
  {
    const OwnContext context;
    EXPECT_EQ(status_of(stream.get()), ACL_STREAM_STATUS_NOT_READY) << "from another context";
  }
  gate.open();
  EXPECT_TRUE(eventually([&] { return status_of(stream.get()) == ACL_STREAM_STATUS_COMPLETE; }));
  EXPECT_TRUE(marks.set()) << "complete is complete";
}

TEST_F(StreamSync, R145_ARunningTaskIsNotReady) {
  HostGate gate;
  const Stream stream;
  gate.hold_and_enter(stream.get());
  EXPECT_EQ(status_of(stream.get()), ACL_STREAM_STATUS_NOT_READY) << "nothing queued, one running";
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(status_of(stream.get()), ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(StreamSync, R145_AFailedStreamAnswersItsError) {
  const Failing failing;
  const Stream stream;
  failing.queue(stream.get());
  aclError answer = ACL_SUCCESS;
  EXPECT_TRUE(eventually([&] {
    aclrtStreamStatus status{};
    answer = aclrtStreamQuery(stream.get(), &status);
    return answer != ACL_SUCCESS;
  }));
  EXPECT_EQ(answer, kRefused);
  EXPECT_EQ(last_error(), kRefused);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused) << "asking does not take the error away";
  EXPECT_EQ(status_of(stream.get()), ACL_STREAM_STATUS_COMPLETE) << "waiting does";
}

}  // namespace stream_sync_test
