// Events and notifies whose streams, contexts, devices or processes go away, and programs that only ask.
#include "support/callbacks.h"
#include "support/fresh_process.h"
#include "support/gates.h"

namespace event_life_test {

using namespace belay_test;

class EventLife : public OnDevice {};

// A stream that is gone is neither released nor takes what was meant for the others.
TEST_F(EventLife, R134_R208_AForcedEndTakesTheWaitsAlong) {
  const Notify notify;
  const Event event{Kind::flagged};
  Stream gone, stays;
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, gone, 0), ACL_SUCCESS);
  expect_held(gone);
  EXPECT_EQ(aclrtDestroyStreamForce(gone), ACL_SUCCESS);
  gone.forget();
  EXPECT_EQ(aclrtRecordNotify(notify, nullptr), ACL_SUCCESS);
  EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, stays, 0), ACL_SUCCESS);
  EXPECT_EQ(finish(stays), ACL_SUCCESS) << "the flag was not taken by a stream that is gone";

  Stream also_gone;
  EXPECT_EQ(::aclrtStreamWaitEvent(also_gone, event), ACL_SUCCESS);
  EXPECT_EQ(::aclrtStreamWaitEvent(stays, event), ACL_SUCCESS);
  expect_held(also_gone);
  EXPECT_EQ(aclrtDestroyStreamForce(also_gone), ACL_SUCCESS);
  also_gone.forget();
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  EXPECT_EQ(finish(stays), ACL_SUCCESS);
  EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
}

TEST_F(EventLife, R173_R209_AnExpiredWaitIsForgotten) {
  const Notify notify;
  const Event event{Kind::plain};
  Stream producer, stays;
  NotifyGate gate;
  gate.hold(producer);
  EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  {
    Stream first, second;
    EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(first, event, 1), ACL_SUCCESS);
    EXPECT_EQ(aclrtWaitAndResetNotify(notify, second, 1), ACL_SUCCESS);
    EXPECT_EQ(finish(first), kTaskTimeout);
    EXPECT_EQ(finish(second), kTaskTimeout);
  }
  gate.open();
  EXPECT_EQ(finish(producer), ACL_SUCCESS);
  EXPECT_EQ(recorded(event), kComplete);
  EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
  EXPECT_EQ(aclrtRecordNotify(notify, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, stays, 0), ACL_SUCCESS);
  EXPECT_EQ(finish(stays), ACL_SUCCESS);
}

// Two waits of a second each: the second begins when the first has given up.
TEST_F(EventLife, R173_EveryWaitHasItsOwnTime) {
  const Event event{Kind::flagged};
  Stream stream;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(stream, event, 1), ACL_SUCCESS);
  EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(stream, event, 1), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kTaskTimeout);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds{2});
  EXPECT_TRUE(idle(stream));
}

TEST_F(EventLife, R165_R133_TheStreamOfARecordIsDestroyed) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    const Event event{kind};
    const Device block{64};
    Stream waiter;
    {
      Stream stream;
      EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 6, 64, stream), ACL_SUCCESS);
      EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    }
    EXPECT_EQ(recorded(event), kComplete);
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(waiter, event), ACL_SUCCESS);
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 6));
    EXPECT_EQ(aclrtRecordEvent(event, waiter), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
  }
}

TEST(EventLifeDevice, R64_R118_EventsAndNotifiesSurviveAReset) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  std::vector<aclrtEvent> events;
  for (const Kind kind : all_kinds()) {
    aclrtEvent event = nullptr;
    ASSERT_EQ(create(kind, &event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
    events.push_back(event);
  }
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  for (const aclrtEvent event : events) {
    EXPECT_EQ(recorded(event), kComplete) << "the reset waited for the work (R-59)";
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    std::uint64_t time = 0;
    EXPECT_EQ(aclrtEventGetTimestamp(event, &time), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, nullptr), kNoContext);
  }
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  for (const aclrtEvent event : events) {
    EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS) << "and they are good for the next time";
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtRecordNotify(notify, nullptr), ACL_SUCCESS);
  EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(EventLife, R69_R10_HandlesOfTheParentProcess) {
  Stream stream;
  const Event event{Kind::plain};
  const Notify notify;
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  in_fresh_process([&] {
    EXPECT_EQ(::aclrtSynchronizeEvent(event), kStale);
    EXPECT_EQ(aclrtDestroyEvent(event), kStale);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, nullptr), kStale);
    EXPECT_EQ(aclrtRecordNotify(notify, nullptr), kStale);
    EXPECT_EQ(aclrtLaunchHostFunc(stream, call_body, nullptr), kStale);
    const Event own{Kind::plain};
    EXPECT_EQ(aclrtRecordEvent(own, nullptr), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeEvent(own), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(finish(stream), ACL_SUCCESS) << "the child took nothing from the parent";
  EXPECT_EQ(recorded(event), kComplete);
}

bool asked_until(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < end) {
    if (done()) return true;
    std::this_thread::yield();
  }
  return false;
}

// A program that never waits comes to an end too, though it asks only for the last link of a chain.
TEST_F(EventLife, R177_R145_AskingForTheEndOfAChain) {
  Stream first, second, third;
  const Device block{64};
  const Event one{Kind::plain}, last{Kind::ex};
  const Notify notify;
  for (int round = 0; round < 3; ++round) {
    write_to(block.get(), Bytes(64, 0));
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 8, 64, first), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(one, first), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(second, one), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordNotify(notify, second), ACL_SUCCESS);
    EXPECT_EQ(aclrtWaitAndResetNotify(notify, third, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(last, third), ACL_SUCCESS);
    if (round == 0) {
      EXPECT_TRUE(asked_until([&] { return recorded(last) == kComplete; }));
    } else if (round == 1) {
      EXPECT_TRUE(asked_until([&] { return idle(third); }));
    } else {
      EXPECT_TRUE(asked_until([&] { return waited(one) == ACL_EVENT_WAIT_STATUS_COMPLETE; }));
      EXPECT_EQ(finish(third), ACL_SUCCESS);
    }
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 8));
  }
}

// A wait that was queued before its record, which is queued later and elsewhere.
TEST_F(EventLife, R171_R177_AskingForAWaitThatIsPromisedARecord) {
  Stream stream, producer;
  const Event event{Kind::flagged}, last{Kind::plain};
  EXPECT_EQ(::aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(last, stream), ACL_SUCCESS);
  EXPECT_EQ(recorded(last), kNotReady);
  EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  EXPECT_TRUE(asked_until([&] { return recorded(last) == kComplete; }));
}

// With hardly any number left, records of several threads pass it on to each other.
TEST_F(EventLife, R160_R18_ManyThreadsShareFewNumbers) {
  std::vector<aclrtEvent> taken;
  for (;;) {
    std::uint32_t free = 0;
    EXPECT_EQ(aclrtGetEventAvailNum(&free), ACL_SUCCESS);
    if (free <= 2) break;
    for (; free > 2; --free) {
      aclrtEvent event = nullptr;
      ASSERT_EQ(::aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
      taken.push_back(event);
    }
  }
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      {
        Stream stream;
        const Event event{t % 2 == 0 ? Kind::plain : Kind::ex};
        for (int i = 0; i < 100; ++i) EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
        EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
        EXPECT_EQ(finish(stream), ACL_SUCCESS);
      }
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint32_t free = 0;
  EXPECT_EQ(aclrtGetEventAvailNum(&free), ACL_SUCCESS);
  EXPECT_EQ(free, 2U) << "every number came back";
  for (const aclrtEvent event : taken) EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

}  // namespace event_life_test
