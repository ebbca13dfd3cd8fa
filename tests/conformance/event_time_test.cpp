// The time that events carry.
#include <cmath>

#include "support/callbacks.h"
#include "support/gates.h"
#include "support/refusals.h"

namespace event_time_test {

using namespace belay_test;

class EventTime : public OnDevice {};

constexpr std::uint32_t kTimed = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE;

float between(aclrtEvent start, aclrtEvent end) {
  float ms = std::nanf("");
  EXPECT_EQ(aclrtEventElapsedTime(&ms, start, end), ACL_SUCCESS);
  return ms;
}
std::uint64_t stamp(aclrtEvent event) {
  std::uint64_t time = 0;
  EXPECT_EQ(aclrtEventGetTimestamp(event, &time), ACL_SUCCESS);
  return time;
}
void expect_no_time(aclrtEvent start, aclrtEvent end, int expected) {
  float ms = 42;
  expect_stored(aclrtEventElapsedTime(&ms, start, end), expected, "aclrtEventElapsedTime");
  EXPECT_EQ(ms, 42);
}
void expect_no_stamp(aclrtEvent event, int expected) {
  std::uint64_t time = 42;
  expect_stored(aclrtEventGetTimestamp(event, &time), expected, "aclrtEventGetTimestamp");
  EXPECT_EQ(time, 42U);
}

TEST_F(EventTime, R184_R185_NullsAreRefusedFirst) {
  const Event event{Kind::plain};
  float ms = 42;
  std::uint64_t time = 42;
  expect_not_stored(aclrtEventElapsedTime(nullptr, event, event), kBadArgument, "aclrtEventElapsedTime");
  expect_not_stored(aclrtEventElapsedTime(&ms, nullptr, event), kBadArgument, "aclrtEventElapsedTime");
  expect_not_stored(aclrtEventElapsedTime(&ms, event, nullptr), kBadArgument, "aclrtEventElapsedTime");
  expect_not_stored(aclrtEventElapsedTime(&ms, nullptr, sentinel()), kBadArgument, "aclrtEventElapsedTime");
  expect_not_stored(aclrtEventElapsedTime(nullptr, nullptr, nullptr), kBadArgument, "aclrtEventElapsedTime");
  expect_not_stored(aclrtEventGetTimestamp(nullptr, &time), kBadArgument, "aclrtEventGetTimestamp");
  expect_not_stored(aclrtEventGetTimestamp(event, nullptr), kBadArgument, "aclrtEventGetTimestamp");
  expect_not_stored(aclrtEventGetTimestamp(sentinel(), nullptr), kBadArgument, "aclrtEventGetTimestamp");
  EXPECT_EQ(ms, 42);
  EXPECT_EQ(time, 42U);
}

TEST_F(EventTime, R184_R185_R10_StaleEvents) {
  Stream stream;
  const Event good{Kind::plain};
  EXPECT_EQ(aclrtRecordEvent(good, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  Event gone{Kind::plain};
  std::vector<void*> wrong = garbage();
  wrong.push_back(gone.destroy_now());
  wrong.push_back(stream);
  for (void* const handle : wrong) {
    expect_no_time(handle, good, kStale);
    expect_no_time(good, handle, kStale);
    expect_no_time(handle, handle, kStale);
    expect_no_stamp(handle, kStale);
  }
}

TEST_F(EventTime, R184_R185_NeverRecorded) {
  Stream stream;
  for (const Kind kind : all_kinds()) {
    for (const std::uint32_t flag : {kTimed, ACL_EVENT_SYNC}) {
      SCOPED_TRACE(name_of(kind));
      const Event good{Kind::plain}, never{kind, flag};
      EXPECT_EQ(aclrtRecordEvent(good, stream), ACL_SUCCESS);
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
      expect_no_time(never, never, kInternal);
      expect_no_time(good, never, kInternal);
      expect_no_time(never, good, kInternal);
      expect_no_stamp(never, kInternal);
    }
  }
}

TEST_F(EventTime, R184_R185_NotComplete) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream stream, held;
    const Event good{Kind::plain}, late{kind, kTimed};
    EXPECT_EQ(aclrtRecordEvent(good, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    for (int round = 0; round < 2; ++round) {  // the second time it has been complete before
      NotifyGate gate;
      gate.hold(held);
      EXPECT_EQ(aclrtRecordEvent(late, held), ACL_SUCCESS);
      expect_no_time(good, late, kNoTime);
      expect_no_time(late, good, kNoTime);
      expect_no_time(late, late, kNoTime);
      expect_no_stamp(late, kNoTime);
      gate.open();
      EXPECT_EQ(finish(held), ACL_SUCCESS);
      EXPECT_GT(stamp(late), 0U);
      EXPECT_GE(between(good, late), 0.0F);
    }
  }
}

TEST_F(EventTime, R184_R185_WithoutATimeLine) {
  Stream stream;
  const Event good{Kind::plain};
  EXPECT_EQ(aclrtRecordEvent(good, stream), ACL_SUCCESS);
  for (const Kind kind : {Kind::flagged, Kind::ex}) {
    for (const std::uint32_t flag : {ACL_EVENT_SYNC, ACL_EVENT_CAPTURE_STREAM_PROGRESS,
                                     ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS}) {
      SCOPED_TRACE(std::string{name_of(kind)} + " " + std::to_string(flag));
      const Event event{kind, flag};
      EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
      expect_no_time(event, event, kNoTime);
      expect_no_time(good, event, kNoTime);
      expect_no_time(event, good, kNoTime);
      expect_no_stamp(event, kNoTime);
    }
  }
}

TEST_F(EventTime, R184_R185_TimeThatPassedOnTheStream) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    const Event start{kind, kTimed}, end{kind, kTimed};
    Body work = [] { let_time_pass(60ms); };
    const auto before = std::chrono::steady_clock::now();
    EXPECT_EQ(aclrtRecordEvent(start, stream), ACL_SUCCESS);
    EXPECT_EQ(launch(stream, work), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(end, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    const std::chrono::duration<float, std::milli> most = std::chrono::steady_clock::now() - before;
    const float ms = between(start, end);
    EXPECT_GE(ms, 59.99F) << "milliseconds";
    EXPECT_LE(ms, most.count() + 0.1F);
    EXPECT_FLOAT_EQ(between(end, start), -ms) << "the end came first";
    EXPECT_EQ(between(start, start), 0.0F);
    EXPECT_GE(stamp(end) - stamp(start), 59990U) << "microseconds";
    EXPECT_NEAR(static_cast<double>(stamp(end) - stamp(start)) / 1000, static_cast<double>(ms), 0.01);
  }
}

TEST_F(EventTime, R184_AcrossKindsAndStreams) {
  Stream first, second;
  const Event plain{Kind::plain}, flagged{Kind::flagged, kTimed}, ex{Kind::ex, kTimed};
  EXPECT_EQ(aclrtRecordEvent(plain, first), ACL_SUCCESS);
  EXPECT_EQ(finish(first), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(flagged, second), ACL_SUCCESS);
  EXPECT_EQ(finish(second), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(ex, nullptr), ACL_SUCCESS);
  EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
  EXPECT_GE(between(plain, flagged), 0.0F);
  EXPECT_GE(between(flagged, ex), 0.0F);
  EXPECT_LE(between(ex, plain), 0.0F);
  without_context([&] {
    EXPECT_GE(between(plain, ex), 0.0F) << "no rule asks for a context";
    EXPECT_GE(stamp(ex), stamp(plain));
  });
}

TEST_F(EventTime, R184_TheLatestRecordCounts) {
  for (const Kind kind : {Kind::plain, Kind::ex}) {
    Stream stream;
    const Event start{kind, kTimed}, end{kind, kTimed};
    EXPECT_EQ(aclrtRecordEvent(end, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    Body work = [] { let_time_pass(2ms); };
    EXPECT_EQ(launch(stream, work), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(start, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_LT(between(start, end), -1.9F);
    EXPECT_EQ(launch(stream, work), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(end, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_GT(between(start, end), 1.9F);
  }
}

TEST_F(EventTime, R185_TimesNeverGoBack) {
  Stream streams[3];
  const Event event{Kind::plain};
  std::uint64_t before = 0;
  for (int i = 0; i < 300; ++i) {
    Stream& stream = streams[i % 3];
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    const std::uint64_t now = stamp(event);
    EXPECT_GE(now, before);
    before = now;
  }
}

// The order of records on one stream is the order of their times, whichever order is asked in.
TEST_F(EventTime, R184_R185_OrderOnOneStream) {
  Stream stream;
  NotifyGate gate;
  std::vector<std::unique_ptr<Event>> events;
  gate.hold(stream);
  for (int i = 0; i < 40; ++i) {
    events.push_back(std::make_unique<Event>(all_kinds()[static_cast<std::size_t>(i) % 3], kTimed));
    EXPECT_EQ(aclrtRecordEvent(*events.back(), stream), ACL_SUCCESS);
  }
  gate.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  for (std::size_t i = 1; i < events.size(); ++i) {
    EXPECT_GE(between(*events[i - 1], *events[i]), 0.0F);
    EXPECT_LE(stamp(*events[i - 1]), stamp(*events[i]));
  }
}

}  // namespace event_time_test
