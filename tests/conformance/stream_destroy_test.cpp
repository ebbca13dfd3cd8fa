// Destroying streams, with and without waiting.
#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "support/gates.h"
#include "support/slices.h"
#include "support/worker.h"

namespace stream_destroy_test {

using namespace belay_test;

using Destroy = aclError (*)(aclrtStream);
constexpr Destroy kBoth[] = {aclrtDestroyStream, aclrtDestroyStreamForce};

class StreamDestroy : public OnDevice {};

TEST_F(StreamDestroy, R132_NullIsNotTheDefaultStream) {
  for (const Destroy destroy : kBoth) {
    EXPECT_EQ(destroy(nullptr), kBadArgument);
    without_context([destroy] { EXPECT_EQ(destroy(nullptr), kBadArgument); });
  }
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_TRUE(mentions(recent_message(), "aclrtDestroyStream"));
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
}

TEST_F(StreamDestroy, R132_R10_Once) {
  for (const Destroy destroy : kBoth) {
    for (const Destroy again : kBoth) {
      aclrtStream const stream = new_stream();
      EXPECT_EQ(destroy(stream), ACL_SUCCESS);
      EXPECT_EQ(again(stream), kStale);
      EXPECT_EQ(last_error(), kStale);
    }
  }
  EXPECT_TRUE(mentions(recent_message(), "EE1017"));
}

TEST_F(StreamDestroy, R132_R19_AContextIsNeeded) {
  const Stream stream;
  const Marks marks;
  without_context([&] {
    for (const Destroy destroy : kBoth) {
      EXPECT_EQ(destroy(stream.get()), kNoContext);
      EXPECT_EQ(last_error(), kNoContext);
    }
  });
  marks.queue(stream.get());
  EXPECT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS) << "nothing was destroyed";
  EXPECT_TRUE(marks.set());
}

TEST_F(StreamDestroy, R132_R12_ByItsOwnContextOnly) {
  const aclrtContext primary = current_context();
  const Stream ours;
  const OwnContext context;
  const Stream theirs;
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  Stream elsewhere;
  for (const Destroy destroy : kBoth) {
    EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
    EXPECT_EQ(destroy(theirs.get()), kOtherContext);
    EXPECT_EQ(last_error(), kOtherContext);
    EXPECT_EQ(destroy(elsewhere.get()), kOtherContext);
    context.enter();
    EXPECT_EQ(destroy(ours.get()), kOtherContext);
  }
  EXPECT_TRUE(mentions(recent_message(), "EE1010"));
  for (aclrtStream stream : {ours.get(), theirs.get(), elsewhere.get()})
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << "all are still there";
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(elsewhere.forget()), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
  context.enter();
}

TEST_F(StreamDestroy, R133_WaitsUntilQueuedTasksAreDone) {
  for (int round = 0; round < 5; ++round) {
    const Marks marks;
    HostGate gate;
    aclrtStream const stream = new_stream();
    gate.hold(stream);
    for (std::size_t i = 0; i < marks.size(); ++i) marks.queue(stream, i);
    {
      const OpensLater later(gate);
      EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    }
    EXPECT_FALSE(gate.gave_up());
    for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_TRUE(marks.set(i)) << i;
  }
}

TEST_F(StreamDestroy, R133_AStreamStuckInAWaitBlocksHere) {
  const Marks marks;
  const WordGate gate;
  aclrtStream const stream = new_stream();
  gate.hold(stream);
  marks.queue(stream);
  {
    const OpensLater later(gate);
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    EXPECT_TRUE(later.opening());
  }
  EXPECT_TRUE(marks.set());
}

TEST_F(StreamDestroy, R133_WaitsForWhatItsOwnWaitsAreWaitingFor) {
  const Marks marks;
  const WordGate gate;
  const Event event;
  const Stream first;
  aclrtStream const second = new_stream();
  gate.hold(first.get());
  marks.queue(first.get(), 0);
  event.record(first.get());
  EXPECT_EQ(::aclrtStreamWaitEvent(second, event.get()), ACL_SUCCESS);
  marks.queue(second, 1);
  {
    const OpensLater later(gate);
    EXPECT_EQ(aclrtDestroyStream(second), ACL_SUCCESS);
  }
  EXPECT_TRUE(marks.set(0));
  EXPECT_TRUE(marks.set(1));
}

TEST_F(StreamDestroy, R134_ForceDoesNotWait_AndDropsWhatHasNotStarted) {
  const Marks marks;
  HostGate gate;
  Pinned pinned(64);
  EXPECT_EQ(aclrtMemset(pinned.get(), 64, 0, 64), ACL_SUCCESS);
  Device source(64);
  write_to(source.get(), pattern(64));
  aclrtStream const stream = new_stream();
  gate.hold_and_enter(stream);
  for (std::size_t i = 0; i < marks.size(); ++i) marks.queue(stream, i);
  EXPECT_EQ(aclrtMemcpyAsync(pinned.get(), 64, source.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST, stream),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  EXPECT_FALSE(gate.left()) << "it did not wait for the running task";
  EXPECT_EQ(aclrtStreamQuery(stream, nullptr), kBadArgument);
  EXPECT_EQ(aclrtSynchronizeStream(stream), kStale);
  gate.open();
  EXPECT_TRUE(eventually([&] { return gate.left(); })) << "a running task may finish";
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_FALSE(marks.set(i)) << i;
  EXPECT_EQ(*at(pinned.get(), 0), 0);
}

TEST_F(StreamDestroy, R134_ForceFreesAStreamThatIsStuck) {
  const Marks marks;
  const WordGate never;
  for (int round = 0; round < 20; ++round) {
    aclrtStream const stream = new_stream();
    never.hold(stream);
    marks.queue(stream);
    EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_FALSE(marks.set());
}

TEST_F(StreamDestroy, R134_EventsRecordedByDroppedTasksComplete) {
  const Marks marks;
  const WordGate never;
  const Event event;
  const Stream other;
  aclrtStream const stream = new_stream();
  never.hold(stream);
  event.record(stream);
  EXPECT_EQ(::aclrtStreamWaitEvent(other.get(), event.get()), ACL_SUCCESS);
  marks.queue(other.get());
  EXPECT_FALSE(event.complete());
  EXPECT_FALSE(marks.set());
  EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  EXPECT_TRUE(eventually([&] { return event.complete(); }));
  EXPECT_EQ(aclrtSynchronizeStream(other.get()), ACL_SUCCESS) << "nobody hangs";
  EXPECT_TRUE(marks.set());
  EXPECT_NE(::aclrtSynchronizeEventWithTimeout(event.get(), 30000), kEventTimeout);
}

// A copy that runs may finish, even when its memory is given back meanwhile.
TEST_F(StreamDestroy, R134_M114_MemoryMayBeFreedAtOnceAfterwards) {
  constexpr std::size_t kSize = 64 * kMB;
  for (int round = 0; round < 12; ++round) {
    Device from(kSize), to(kSize);
    Pinned host(kMB);
    aclrtStream const stream = new_stream();
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(::aclrtMemcpyAsync(to.get(), kSize, from.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, stream),
                ACL_SUCCESS);
      EXPECT_EQ(::aclrtMemcpyAsync(host.get(), kMB, to.get(), kMB, ACL_MEMCPY_DEVICE_TO_HOST, stream),
                ACL_SUCCESS);
    }
    let_time_pass(std::chrono::milliseconds{round});
    EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
    from.free_now();
    to.free_now();
  }
}

TEST_F(StreamDestroy, R134_AnIdleStreamGoesToo) {
  const Marks marks;
  aclrtStream const stream = new_stream();
  marks.queue(stream);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  EXPECT_TRUE(marks.set());
}

TEST_F(StreamDestroy, R135_TheDefaultStreamCannotBeDestroyed) {
  const Marks marks(4);
  std::size_t next = 0;
  const auto expect_refused = [&] {
    aclrtStream const stream = default_stream();
    for (const Destroy destroy : kBoth) {
      EXPECT_EQ(destroy(stream), kBadValue);
      EXPECT_EQ(last_error(), kBadValue);
    }
    EXPECT_EQ(default_stream(), stream);
    marks.queue(stream, next);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_TRUE(marks.set(next++));
  };
  expect_refused();
  const OwnContext context;
  expect_refused();
}

TEST_F(StreamDestroy, R136_AThreadThatWaitsIsToldWhenTheStreamIsGone) {
  const WordGate never;
  aclrtStream const stream = new_stream();
  never.hold(stream);
  Waiting waiting([stream] { return aclrtSynchronizeStream(stream); });
  let_time_pass(20ms);  // likely it waits by now; the answer is the same if it does not
  EXPECT_FALSE(waiting.back());
  EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  EXPECT_EQ(waiting.fetch(), kStale);
  EXPECT_EQ(waiting.last_error(), kStale);
}

TEST_F(StreamDestroy, R136_UseByOtherThreadsMeanwhileNeverCrashes) {
  const aclrtContext context = current_context();
  const Marks marks;
  std::atomic<bool> over{false};
  std::atomic<aclrtStream> shared{new_stream()};
  std::atomic<int> wrong{0}, rounds{0};
  std::vector<std::thread> users;
  for (int number = 0; number < 4; ++number) {
    users.emplace_back([&, number] {
      if (aclrtSetCurrentContext(context) != ACL_SUCCESS) ++wrong;
      while (!over) {
        aclrtStream const stream = shared;
        aclError answer = ACL_SUCCESS;
        aclrtStreamStatus status{};
        std::int32_t id = 0;
        if (number == 0) answer = marks.try_queue(stream);
        if (number == 1) answer = aclrtSynchronizeStream(stream);
        if (number == 2) answer = aclrtStreamQuery(stream, &status);
        if (number == 3) answer = aclrtStreamGetId(stream, &id);
        if (answer != ACL_SUCCESS && answer != kStale) wrong = answer;
        ++rounds;
      }
    });
  }
  for (int round = 0; round < slice(200, 5000); ++round) {
    aclrtStream const next = new_stream();
    EXPECT_EQ(kBoth[round % 2](shared.exchange(next)), ACL_SUCCESS);
  }
  EXPECT_TRUE(eventually([&] { return rounds > 100; }));
  over = true;
  for (std::thread& user : users) user.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(aclrtDestroyStream(shared), ACL_SUCCESS);
}

std::uint64_t this_thread() { return static_cast<std::uint64_t>(pthread_self()); }

TEST_F(StreamDestroy, R137_TheSubscriptionGoesWithTheStream) {
  for (const Destroy destroy : kBoth) {
    aclrtStream const stream = new_stream();
    EXPECT_EQ(aclrtProcessReport(1), 107012) << "not subscribed yet";
    EXPECT_EQ(aclrtSubscribeReport(this_thread(), stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtProcessReport(1), 507012) << "subscribed, and nothing to do";
    EXPECT_EQ(destroy(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtProcessReport(1), 107012);
    EXPECT_EQ(aclrtUnSubscribeReport(this_thread(), stream), kStale);
  }
  // A thread serves one device at a time: it is free for another one now.
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  aclrtStream const elsewhere = new_stream();
  EXPECT_EQ(aclrtSubscribeReport(this_thread(), elsewhere), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(this_thread(), elsewhere), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(elsewhere), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
}

TEST_F(StreamDestroy, R138_AnErrorThatNobodyCollectedIsNoReason) {
  const Failing failing;
  for (const Destroy destroy : kBoth) {
    aclrtStream const stream = new_stream();
    const Event event;
    failing.queue(stream);
    event.record(stream);
    EXPECT_TRUE(eventually([&] { return event.complete(); })) << "the failure has happened";
    EXPECT_EQ(destroy(stream), ACL_SUCCESS);
    EXPECT_EQ(last_error(), ACL_SUCCESS);
  }
  aclrtStream const stream = new_stream();
  failing.queue(stream);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS) << "and when it happens meanwhile";
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS) << "it went with the stream";
}

TEST_F(StreamDestroy, R131_DestroyingGivesTheSlotBack) {
  const std::uint32_t before = streams_left();
  for (const Destroy destroy : kBoth) {
    aclrtStream const stream = new_stream();
    EXPECT_EQ(streams_left(), before - 1);
    EXPECT_EQ(destroy(stream), ACL_SUCCESS);
    EXPECT_EQ(streams_left(), before);
  }
}

}  // namespace stream_destroy_test
