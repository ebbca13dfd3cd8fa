// Waits for events that give up after a time.
#include "support/gates.h"
#include "support/refusals.h"
#include "support/worker.h"

namespace event_wait_time_test {

using namespace belay_test;

class EventWaitTime : public OnDevice {
 protected:
  void TearDown() override {
    EXPECT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
    OnDevice::TearDown();
  }
};

TEST_F(EventWaitTime, R173_TimesBelowZero) {
  Stream stream;
  const Event event{Kind::ex};
  for (const std::int32_t timeout : {-1, -2, std::numeric_limits<std::int32_t>::min()}) {
    EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(stream, event, timeout), kBadValue);
    EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(nullptr, event, timeout), kBadValue);
    EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(stream, nullptr, timeout), kBadValue);
    EXPECT_TRUE(mentions(recent_message(), "aclrtStreamWaitEventWithTimeout"));
  }
  EXPECT_TRUE(idle(stream));
}

// Both functions that take a time, and the default of the process.
const std::vector<std::function<int(aclrtStream, aclrtEvent)>>& waits_of_a_second() {
  static const std::vector<std::function<int(aclrtStream, aclrtEvent)>> all = {
      [](aclrtStream s, aclrtEvent e) { return ::aclrtStreamWaitEventWithTimeout(s, e, 1); },
      [](aclrtStream s, aclrtEvent e) { return ::aclrtStreamWaitEventWithFlag(s, e, 1, 0); },
      [](aclrtStream s, aclrtEvent e) {
        EXPECT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
        return ::aclrtStreamWaitEvent(s, e);
      }};
  return all;
}

TEST_F(EventWaitTime, R173_R175_AnExpiredWaitFailsItsStream) {
  for (const auto& wait : waits_of_a_second()) {
    Stream producer, stream, other;
    NotifyGate gate;
    const Event event{Kind::plain};
    gate.hold(producer);
    EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
    EXPECT_EQ(wait(stream, event), ACL_SUCCESS);
    EXPECT_EQ(finish(other), ACL_SUCCESS) << "only the stream that waits fails";
    EXPECT_EQ(finish(stream), kTaskTimeout);
    EXPECT_EQ(last_error(), kTaskTimeout) << "in the thread that asked (R-22)";
    EXPECT_EQ(finish(stream), ACL_SUCCESS) << "told once (R-16)";
    EXPECT_EQ(recorded(event), kNotReady);
    gate.open();
    EXPECT_EQ(finish(producer), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS) << "the stream is usable";
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kComplete);
  }
}

TEST_F(EventWaitTime, R173_R153_LaterTasksRunAfterTheFailure) {
  Stream stream;
  const Device block{64};
  write_to(block.get(), Bytes(64, 0));
  const Event event{Kind::flagged};
  EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(stream, event, 1), ACL_SUCCESS);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 3, 64, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kTaskTimeout);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 3)) << "the stream continues on failure";
  EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(EventWaitTime, R173_AWaitThatIsReleasedInTimeDoesNotFail) {
  for (const Kind kind : all_kinds()) {
    Stream producer, stream;
    NotifyGate gate;
    const Event event{kind};
    gate.hold(producer);
    EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(stream, event, 300), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(stream, event, std::numeric_limits<std::int32_t>::max()),
              ACL_SUCCESS);
    expect_held(stream);
    gate.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
  }
}

TEST_F(EventWaitTime, R173_ZeroIsForEver) {
  EXPECT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS) << "the default is for the function without a time";
  Stream stream, producer;
  const Event event{Kind::flagged};
  EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(stream, event, 0), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(stream, 1500), kStreamTimeout);
  EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

// The wait stands behind a gate for longer than its own time; then it has all of it.
TEST_F(EventWaitTime, R173_TheTimeCountsFromTheHeadOfTheStream) {
  Stream producer, stream;
  NotifyGate front, gate;
  const Event event{Kind::plain};
  gate.hold(producer);
  EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  front.hold(stream);
  EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(stream, event, 3), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(stream, 3300), kStreamTimeout);
  front.open();
  expect_held(stream);
  gate.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(EventWaitTime, R173_TheTimeIsInSeconds) {
  Stream stream;
  const Event event{Kind::flagged};
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(::aclrtStreamWaitEventWithTimeout(stream, event, 2), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kTaskTimeout);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::seconds{2});
}

TEST_F(EventWaitTime, R175_NeedsAContext) {
  without_context([] { expect_stored(aclrtSetOpWaitTimeout(1), kNoContext, "aclrtSetOpWaitTimeout"); });
  for (const std::uint32_t timeout : {1U, 0xFFFFFFFFU, 0U}) {
    EXPECT_EQ(aclrtSetOpWaitTimeout(timeout), ACL_SUCCESS);
  }
}

// One default of the process, set by any thread; the last call wins, and each wait keeps what held for it.
TEST_F(EventWaitTime, R175_TheDefaultIsForLaterWaits) {
  Stream before, during, after, producer;
  const Event event{Kind::flagged};
  EXPECT_EQ(::aclrtStreamWaitEvent(before, event), ACL_SUCCESS);
  on_new_thread([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetOpWaitTimeout(1000000), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(::aclrtStreamWaitEvent(during, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
  EXPECT_EQ(::aclrtStreamWaitEvent(after, event), ACL_SUCCESS);
  EXPECT_EQ(finish(during), kTaskTimeout);
  EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(before, 600), kStreamTimeout);
  EXPECT_EQ(::aclrtSynchronizeStreamWithTimeout(after, 600), kStreamTimeout);
  EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  EXPECT_EQ(finish(before), ACL_SUCCESS);
  EXPECT_EQ(finish(after), ACL_SUCCESS);
}

TEST_F(EventWaitTime, R175_OtherDevicesToo) {
  const Elsewhere other{1};
  EXPECT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
  const Event event{Kind::flagged};
  const aclrtStream stream = other.stream();
  other.enter();
  EXPECT_EQ(::aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), kTaskTimeout);
  other.leave();
}

}  // namespace event_wait_time_test
