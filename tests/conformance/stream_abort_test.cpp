// Taking back what is queued: one stream, or only its running task.
#include <cstdint>
#include <string>
#include <vector>

#include "support/gates.h"
#include "support/worker.h"

namespace stream_abort_test {

using namespace belay_test;

class StreamAbort : public OnDevice {};

TEST_F(StreamAbort, R154_R155_Arguments) {
  aclrtStream const stale = stale_stream();
  EXPECT_EQ(aclrtStreamAbort(stale), kStale);
  EXPECT_EQ(last_error(), kStale);
  EXPECT_EQ(aclrtStreamStop(stale), kStale);
  EXPECT_EQ(aclrtStreamStop(nullptr), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
  EXPECT_EQ(aclrtStreamAbort(nullptr), ACL_SUCCESS) << "the default stream";
  const Stream stream;
  EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS) << "nothing to drop";
  EXPECT_EQ(aclrtStreamStop(stream.get()), ACL_SUCCESS) << "nothing to stop";
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  without_context([&] {
    EXPECT_EQ(aclrtStreamAbort(stream.get()), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    EXPECT_EQ(aclrtStreamStop(stream.get()), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    EXPECT_EQ(aclrtStreamAbort(nullptr), kNoContext);
  });
}

TEST_F(StreamAbort, R154_WhatIsQueuedIsDropped_AndTheStreamStaysUsable) {
  const Marks marks;
  const WordGate never;
  const Stream made;
  for (aclrtStream stream : {made.get(), aclrtStream{nullptr}}) {
    for (int round = 0; round < 5; ++round) {
      never.hold(stream);
      for (std::size_t i = 0; i < 8; ++i) marks.queue(stream, i);
      EXPECT_EQ(aclrtStreamAbort(stream), ACL_SUCCESS);
      EXPECT_EQ(::aclrtSynchronizeStream(stream), ACL_SUCCESS) << "nothing is left, and nobody was waiting";
      EXPECT_EQ(status_of(stream), ACL_STREAM_STATUS_COMPLETE);
      marks.queue(stream, 9, round + 1);
      EXPECT_EQ(::aclrtSynchronizeStream(stream), ACL_SUCCESS);
      EXPECT_EQ(marks.get(9), round + 1);
    }
  }
  EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_FALSE(marks.set(i)) << i;
}

TEST_F(StreamAbort, R154_ARunningFunctionIsNotWaitedFor) {
  const Marks marks;
  HostGate gate;
  const Stream stream;
  gate.hold_and_enter(stream.get());
  marks.queue(stream.get(), 0);
  EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
  EXPECT_FALSE(gate.left()) << "abort came back while it ran";
  marks.queue(stream.get(), 1);
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  EXPECT_FALSE(marks.set(0));
  EXPECT_TRUE(marks.set(1)) << "queued after the abort";
}

TEST_F(StreamAbort, R154_R140_WhoWaitsForTheStreamIsTold) {
  const Stream stream;
  EXPECT_TRUE(with_growing_delay([&](std::chrono::milliseconds delay) {
    const WordGate never;
    never.hold(stream.get());
    Waiting one([&] { return ::aclrtSynchronizeStream(stream.get()); });
    Waiting two([&] { return aclrtSynchronizeStreamWithTimeout(stream.get(), 100000); });
    let_time_pass(delay);
    EXPECT_FALSE(one.back());
    EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
    for (Waiting* waiting : {&one, &two}) {
      const aclError answer = waiting->fetch();
      if (answer == ACL_SUCCESS) return false;  // it had not begun to wait
      EXPECT_EQ(answer, kAborted);
      EXPECT_EQ(waiting->last_error(), kAborted);
    }
    return true;
  }));
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS) << "told once, to those who waited";
}

// Who waits may wake up only after the stream has been used and aborted once more.
TEST_F(StreamAbort, R154_R140_WhoWaitsIsToldHoweverOftenTheStreamIsAborted) {
  const Stream stream;
  for (int more = 0; more < 3; ++more) {
    EXPECT_TRUE(with_growing_delay([&](std::chrono::milliseconds delay) {
      const WordGate never;
      never.hold(stream.get());
      std::vector<std::unique_ptr<Waiting>> all;
      for (int i = 0; i < 8; ++i)
        all.push_back(std::make_unique<Waiting>([&] { return ::aclrtSynchronizeStream(stream.get()); }));
      let_time_pass(delay);
      EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
      for (int i = 0; i < more; ++i) {
        if (more > 1) never.hold(stream.get());
        EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
      }
      bool all_told = true;
      for (auto& waiting : all) {
        const aclError answer = waiting->fetch();
        if (answer == ACL_SUCCESS) all_told = false;  // perhaps it had not begun to wait
        EXPECT_TRUE(answer == ACL_SUCCESS || answer == kAborted) << answer;
      }
      return all_told;
    })) << more
        << " aborts more";
  }
}

TEST_F(StreamAbort, R154_SoIsWhoWaitsForAnEventRecordedThere) {
  const Stream stream;
  EXPECT_TRUE(with_growing_delay([&](std::chrono::milliseconds delay) {
    const WordGate never;
    const Event event;
    never.hold(stream.get());
    event.record(stream.get());
    Waiting one([&] { return ::aclrtSynchronizeEvent(event.get()); });
    Waiting two([&] { return aclrtSynchronizeEventWithTimeout(event.get(), 100000); });
    let_time_pass(delay);
    EXPECT_FALSE(one.back());
    EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
    for (Waiting* waiting : {&one, &two}) {
      const aclError answer = waiting->fetch();
      if (answer == ACL_SUCCESS) return false;
      EXPECT_EQ(answer, kAborted);
    }
    return true;
  }));
}

TEST_F(StreamAbort, R154_SoIsWhoWaitsForTheDevice) {
  const Stream stream;
  EXPECT_TRUE(with_growing_delay([&](std::chrono::milliseconds delay) {
    const WordGate never;
    never.hold(stream.get());
    Waiting waiting([] { return ::aclrtSynchronizeDevice(); });
    let_time_pass(delay);
    EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
    const aclError answer = waiting.fetch();
    EXPECT_TRUE(answer == ACL_SUCCESS || answer == kAborted) << answer;
    return true;
  }));
}

TEST_F(StreamAbort, R154_EventsOfDroppedTasksComplete) {
  const Marks marks;
  const WordGate never;
  const Event event;
  const Stream stream, other;
  never.hold(stream.get());
  event.record(stream.get());
  EXPECT_EQ(::aclrtStreamWaitEvent(other.get(), event.get()), ACL_SUCCESS);
  marks.queue(other.get());
  EXPECT_FALSE(event.complete());
  EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
  EXPECT_TRUE(eventually([&] { return event.complete(); }));
  EXPECT_EQ(::aclrtSynchronizeStream(other.get()), ACL_SUCCESS) << "the other stream does not hang";
  EXPECT_TRUE(marks.set());
}

TEST_F(StreamAbort, R154_OtherStreamsKeepTheirs) {
  const Marks marks;
  const WordGate gate;
  const Stream stream, other;
  for (aclrtStream one : {stream.get(), other.get(), aclrtStream{nullptr}}) gate.hold(one);
  marks.queue(stream.get(), 0);
  marks.queue(other.get(), 1);
  marks.queue(nullptr, 2);
  EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(status_of(other.get()), ACL_STREAM_STATUS_NOT_READY);
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_FALSE(marks.set(0));
  EXPECT_TRUE(marks.set(1));
  EXPECT_TRUE(marks.set(2));
}

TEST_F(StreamAbort, R154_AnErrorThatNobodyCollectedGoesToo) {
  const Failing failing;
  const Stream stream;
  const Event event;
  failing.queue(stream.get());
  event.record(stream.get());
  EXPECT_TRUE(eventually([&] { return event.complete(); }));
  EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  const Marks marks;
  marks.queue(stream.get());
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS) << "nor does it come with the next work";
}

// A large copy may be under way: it may be cut short, and the stream is free at once.
TEST_F(StreamAbort, R154_ACopyInProgressIsStopped) {
  constexpr std::size_t kSize = 64 * kMB;
  Device from(kSize), to(kSize);
  const Marks marks;
  const Stream stream;
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 20; ++i)
      EXPECT_EQ(
          ::aclrtMemcpyAsync(to.get(), kSize, from.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, stream.get()),
          ACL_SUCCESS);
    let_time_pass(std::chrono::milliseconds{round * 2});
    EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
    // Nothing of it touches the memory any more.
    EXPECT_EQ(aclrtMemset(to.get(), kSize, 0x77, kSize), ACL_SUCCESS);
    marks.queue(stream.get(), 0, round + 1);
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
    EXPECT_EQ(marks.get(0), round + 1);
    EXPECT_EQ(read_from(to.get(), kSize), Bytes(kSize, 0x77));
  }
}

TEST_F(StreamAbort, R154_QueuingWhileOthersAbort) {
  const aclrtContext context = current_context();
  const Marks marks;
  const Stream stream;
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0}, queued{0};
  std::vector<std::thread> feeders;
  for (int i = 0; i < 2; ++i) {
    feeders.emplace_back([&] {
      if (aclrtSetCurrentContext(context) != ACL_SUCCESS) ++wrong;
      while (!over) {
        const aclError answer = marks.try_queue(stream.get());
        if (answer != ACL_SUCCESS && answer != kAborted) wrong = answer;
        if (++queued % 64 == 0) std::this_thread::yield();
      }
    });
  }
  for (int i = 0; i < 300; ++i) EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
  EXPECT_TRUE(eventually([&] { return queued > 1000; }));
  over = true;
  for (std::thread& feeder : feeders) feeder.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
  marks.queue(stream.get(), 1);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  EXPECT_TRUE(marks.set(1));
}

// The wait at the head ends; what is behind it runs. A stop that comes before the wait has begun stops
// nothing, so it may be needed again.
TEST_F(StreamAbort, R155_StopEndsTheRunningTaskOnly) {
  const Marks marks;
  const WordGate never;
  const Stream stream;
  never.hold(stream.get());
  for (std::size_t i = 0; i < 8; ++i) marks.queue(stream.get(), i);
  EXPECT_FALSE(marks.set(0));
  for (int attempt = 0; attempt < 30 && !marks.set(7); ++attempt) {
    EXPECT_EQ(aclrtStreamStop(stream.get()), ACL_SUCCESS);
    EXPECT_NE(aclrtSynchronizeStreamWithTimeout(stream.get(), 1000), kStale);
  }
  for (std::size_t i = 0; i < 8; ++i) EXPECT_TRUE(marks.set(i)) << i << " was kept";
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
}

TEST_F(StreamAbort, R155_TheNextWaitHoldsAgain) {
  const Marks marks;
  const WordGate never;
  const Stream stream;
  marks.queue(stream.get(), 2);
  never.hold(stream.get());
  marks.queue(stream.get(), 0);
  never.hold(stream.get());
  marks.queue(stream.get(), 1);
  EXPECT_TRUE(eventually([&] { return marks.set(2); }));
  let_time_pass(
      std::chrono::milliseconds{kMoment});  // by then the wait has begun; if not, there is another stop
  for (int attempt = 0; attempt < 30 && !marks.set(0); ++attempt) {
    EXPECT_EQ(aclrtStreamStop(stream.get()), ACL_SUCCESS);
    for (int i = 0; i < 200 && !marks.set(0); ++i) (void)aclrtSynchronizeStreamWithTimeout(stream.get(), 20);
  }
  EXPECT_TRUE(marks.set(0));
  EXPECT_FALSE(marks.set(1)) << "one stop, one task";
  EXPECT_EQ(aclrtStreamAbort(stream.get()), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
}

}  // namespace stream_abort_test
