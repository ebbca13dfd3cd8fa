// Asking events, and waiting for them on the host.
#include "support/gates.h"
#include "support/refusals.h"
#include "support/worker.h"

namespace event_query_test {

using namespace belay_test;

class EventQuery : public OnDevice {};

TEST_F(EventQuery, R176_NullsAreRefusedFirst) {
  const Event event{Kind::flagged};
  const auto check = [&] {
    Out<aclrtEventStatus> old;
    Out<aclrtEventRecordedStatus> status;
    Out<aclrtEventWaitStatus> wait;
    expect_not_stored(query_event(nullptr, old.get()), kBadArgument, "aclrtQueryEvent");
    expect_not_stored(query_event(event, nullptr), kBadArgument, "aclrtQueryEvent");
    expect_not_stored(query_event(nullptr, nullptr), kBadArgument, "aclrtQueryEvent");
    expect_not_stored(query_event(sentinel(), nullptr), kBadArgument, "aclrtQueryEvent");
    expect_not_stored(aclrtQueryEventStatus(nullptr, status.get()), kBadArgument, "aclrtQueryEventStatus");
    expect_not_stored(aclrtQueryEventStatus(event, nullptr), kBadArgument, "aclrtQueryEventStatus");
    expect_not_stored(aclrtQueryEventStatus(nullptr, nullptr), kBadArgument, "aclrtQueryEventStatus");
    expect_not_stored(aclrtQueryEventWaitStatus(nullptr, wait.get()), kBadArgument,
                      "aclrtQueryEventWaitStatus");
    expect_not_stored(aclrtQueryEventWaitStatus(event, nullptr), kBadArgument, "aclrtQueryEventWaitStatus");
    expect_not_stored(::aclrtSynchronizeEvent(nullptr), kBadArgument, "aclrtSynchronizeEvent");
    expect_not_stored(::aclrtSynchronizeEventWithTimeout(nullptr, 1), kBadArgument,
                      "aclrtSynchronizeEventWithTimeout");
    EXPECT_TRUE(old.untouched() && status.untouched() && wait.untouched());
  };
  check();
  without_context(check);
}

TEST_F(EventQuery, R176_R10_StaleEvents) {
  const Stream stream;
  const Notify notify;
  Event gone{Kind::plain};
  std::vector<void*> wrong = garbage();
  wrong.push_back(gone.destroy_now());
  wrong.push_back(notify);
  wrong.push_back(stream);
  for (void* const handle : wrong) {
    Out<aclrtEventStatus> old;
    Out<aclrtEventRecordedStatus> status;
    Out<aclrtEventWaitStatus> wait;
    expect_stored(query_event(handle, old.get()), kStale, "aclrtQueryEvent");
    expect_stored(aclrtQueryEventStatus(handle, status.get()), kStale, "aclrtQueryEventStatus");
    expect_stored(aclrtQueryEventWaitStatus(handle, wait.get()), kStale, "aclrtQueryEventWaitStatus");
    expect_stored(::aclrtSynchronizeEvent(handle), kStale, "aclrtSynchronizeEvent");
    expect_stored(::aclrtSynchronizeEventWithTimeout(handle, 1), kStale, "aclrtSynchronizeEventWithTimeout");
    EXPECT_TRUE(old.untouched() && status.untouched() && wait.untouched());
  }
}

// No rule asks for a context here.
TEST_F(EventQuery, R177_R178_R179_R180_NoContextIsNeeded) {
  Stream stream;
  const Event event{Kind::plain};
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  without_context([&event] {
    EXPECT_EQ(recorded(event), kComplete);
    EXPECT_EQ(queried(event), ACL_EVENT_STATUS_COMPLETE);
    EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, 1), ACL_SUCCESS);
    EXPECT_EQ(last_error(), ACL_SUCCESS);
  });
}

// Section 14.3, row by row. What a wait and a time do with it: event_wait_test, event_time_test.
TEST_F(EventQuery, R177_R178_R180_EventsThatWereNeverRecorded) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    const Event event{kind};
    EXPECT_EQ(recorded(event), kind == Kind::ex ? kComplete : kNotReady);
    if (kind == Kind::ex) {
      Out<aclrtEventStatus> status;
      expect_not_stored(query_event(event, status.get()), kUnsupported, "aclrtQueryEvent");
      EXPECT_TRUE(status.untouched());
    } else {
      EXPECT_EQ(queried(event), ACL_EVENT_STATUS_COMPLETE);
    }
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, 1), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, -1), ACL_SUCCESS);
    float time = 1;
    EXPECT_EQ(aclrtEventElapsedTime(&time, event, event), kInternal);
    last_error();
    if (kind != Kind::plain) {  // which the documents leave open
      EXPECT_EQ(aclrtResetEvent(event, stream), kind == Kind::ex ? kUnsupported : ACL_SUCCESS);
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
    }
    EXPECT_EQ(::aclrtStreamWaitEvent(stream, event), kind == Kind::plain ? kBadValue : ACL_SUCCESS);
    if (kind == Kind::flagged) {
      expect_held(stream);
      EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
    }
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
  }
}

TEST_F(EventQuery, R177_R178_FollowTheLatestRecord) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    const Event event{kind};
    for (int round = 0; round < 3; ++round) {
      NotifyGate gate;
      gate.hold(stream);
      EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
      EXPECT_EQ(recorded(event), kNotReady);
      if (kind != Kind::ex) {
        EXPECT_EQ(queried(event), ACL_EVENT_STATUS_NOT_READY);
      }
      EXPECT_EQ(last_error(), ACL_SUCCESS) << "not ready is no error (R-20)";
      gate.open();
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
      EXPECT_EQ(recorded(event), kComplete);
      if (kind != Kind::ex) {
        EXPECT_EQ(queried(event), ACL_EVENT_STATUS_COMPLETE);
      }
    }
  }
}

// A query moves work on where nothing runs by itself, so asking often enough is enough.
TEST_F(EventQuery, R177_AskingAgainAndAgainEnds) {
  for (const Kind kind : all_kinds()) {
    Stream stream;
    const Device block{kMB};
    const Event event{kind};
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(::aclrtMemsetAsync(block.get(), kMB, i, kMB, stream), ACL_SUCCESS);
    }
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    const auto end = std::chrono::steady_clock::now() + kPatience;
    int status = kNotReady;
    while (status != kComplete && std::chrono::steady_clock::now() < end) {
      status = recorded(event);
      std::this_thread::yield();
    }
    EXPECT_EQ(status, kComplete) << name_of(kind);
    EXPECT_EQ(read_from(block.get(), 16), Bytes(16, 19));
  }
}

TEST_F(EventQuery, R178_KindsThatAreNotAsked) {
  const Event ex{Kind::ex}, timed{Kind::ex, ACL_EVENT_TIME_LINE}, external{Kind::flagged, ACL_EVENT_EXTERNAL};
  for (const Event* const event : {&ex, &timed, &external}) {
    Out<aclrtEventStatus> status;
    expect_not_stored(query_event(*event, status.get()), kUnsupported, "aclrtQueryEvent");
    EXPECT_TRUE(status.untouched());
  }
  for (const std::uint32_t flag : {0x1U, 0x2U, 0x8U, 0xBU}) {
    EXPECT_EQ(queried(Event{Kind::flagged, flag}), ACL_EVENT_STATUS_COMPLETE) << flag;
  }
}

TEST_F(EventQuery, R179_OutstandingWaits) {
  for (const Kind kind : {Kind::plain, Kind::flagged}) {
    SCOPED_TRACE(name_of(kind));
    Stream producer, first, second;
    NotifyGate gate, behind;
    const Event event{kind};
    EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_COMPLETE) << "there was none";
    gate.hold(producer);
    EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
    EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_COMPLETE) << "a record is no wait";
    behind.hold(second);
    EXPECT_EQ(::aclrtStreamWaitEvent(first, event), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(second, event), ACL_SUCCESS);
    EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_NOT_READY);
    EXPECT_EQ(last_error(), ACL_SUCCESS);
    gate.open();
    EXPECT_EQ(finish(first), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kComplete);
    EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_NOT_READY) << "the second has not come to its wait";
    behind.open();
    EXPECT_EQ(finish(second), ACL_SUCCESS);
    EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
  }
}

TEST_F(EventQuery, R179_AWaitThatWasDroppedIsNotOutstanding) {
  const Event event{Kind::flagged};
  Stream stream;
  EXPECT_EQ(::aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  expect_held(stream);
  EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_NOT_READY);
  EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
  stream.forget();
  EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(EventQuery, R179_ExEventsAreNotAsked) {
  Stream stream;
  for (const std::uint32_t flag : {0x1U, 0x2U, 0x8U, 0xBU}) {
    const Event event{Kind::ex, flag};
    Out<aclrtEventWaitStatus> status;
    expect_not_stored(aclrtQueryEventWaitStatus(event, status.get()), kUnsupported,
                      "aclrtQueryEventWaitStatus");
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtQueryEventWaitStatus(event, status.get()), kUnsupported);
    EXPECT_TRUE(status.untouched());
  }
}

TEST_F(EventQuery, R180_BlocksUntilTheCaptureIsComplete) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    NotifyGate gate, behind;
    const Event event{kind};
    gate.hold(stream);
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    behind.hold(stream);
    Signal over;
    std::thread waiting([&] {
      EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
      EXPECT_EQ(recorded(event), kComplete);
      over.give();
    });
    EXPECT_FALSE(over.came_soon());
    gate.open();
    EXPECT_TRUE(over.wait());
    EXPECT_FALSE(idle(stream)) << "it did not wait for more";
    behind.open();
    waiting.join();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
  }
}

TEST_F(EventQuery, R180_ManyThreadsWaitForOneEvent) {
  Stream stream;
  NotifyGate gate;
  const Event event{Kind::plain};
  gate.hold(stream);
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  std::atomic<int> over{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_EQ(i % 2 == 0 ? ::aclrtSynchronizeEvent(event) : ::aclrtSynchronizeEventWithTimeout(event, -1),
                ACL_SUCCESS);
      ++over;
    });
  }
  let_time_pass(std::chrono::milliseconds{kMoment});  // in which nobody must come back
  EXPECT_EQ(over, 0);
  gate.open();
  for (std::thread& thread : threads) thread.join();
}

TEST_F(EventQuery, R181_TheTimeIsLookedAtFirst) {
  const Event event{Kind::plain};
  Event gone{Kind::plain};
  const aclrtEvent stale = gone.destroy_now();
  for (const std::int32_t timeout : {0, -2, std::numeric_limits<std::int32_t>::min()}) {
    for (const aclrtEvent which : {aclrtEvent{nullptr}, static_cast<aclrtEvent>(event), stale}) {
      expect_not_stored(::aclrtSynchronizeEventWithTimeout(which, timeout), kBadValue,
                        "aclrtSynchronizeEventWithTimeout");
      EXPECT_TRUE(mentions(recent_message(), "aclrtSynchronizeEventWithTimeout"));
    }
  }
  for (const std::int32_t timeout : {-1, 1, std::numeric_limits<std::int32_t>::max()}) {
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, timeout), ACL_SUCCESS);
    expect_not_stored(::aclrtSynchronizeEventWithTimeout(nullptr, timeout), kBadArgument,
                      "aclrtSynchronizeEventWithTimeout");
  }
}

TEST_F(EventQuery, R181_AnExpiredWaitMayBeRepeated) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    NotifyGate gate;
    const Event event{kind};
    gate.hold(stream);
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    const auto start = std::chrono::steady_clock::now();
    expect_stored(::aclrtSynchronizeEventWithTimeout(event, 200), kEventTimeout,
                  "aclrtSynchronizeEventWithTimeout");
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{200});
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, 1), kEventTimeout);
    EXPECT_EQ(recorded(event), kNotReady);
    gate.open();
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, 30000), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, -1), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS) << "the stream did not fail";
  }
}

// Without an order between the threads a query may see either state, but nothing else; with one it sees
// the record.
TEST_F(EventQuery, R182_QueriesBesideRecords) {
  for (const Kind kind : {Kind::plain, Kind::ex}) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    const Event event{kind};
    std::atomic<bool> over{false};
    std::vector<std::thread> asking;
    for (int i = 0; i < 3; ++i) {
      asking.emplace_back([&] {
        while (!over) {
          const int status = recorded(event);
          EXPECT_TRUE(status == kComplete || status == kNotReady) << status;
        }
      });
    }
    for (int i = 0; i < 500; ++i) EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    over = true;
    for (std::thread& thread : asking) thread.join();
    EXPECT_EQ(recorded(event), kComplete);
    NotifyGate gate;
    gate.hold(stream);
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    on_new_thread([&event] { EXPECT_EQ(recorded(event), kNotReady) << "the thread began after the record"; });
  }
}

}  // namespace event_query_test
