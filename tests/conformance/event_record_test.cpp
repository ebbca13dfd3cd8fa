// Recording and resetting events.
#include "support/gates.h"
#include "support/refusals.h"

namespace event_record_test {

using namespace belay_test;

class EventRecord : public OnDevice {};

struct Recorder {
  std::string api;
  std::function<int(aclrtEvent, aclrtStream)> call;
};

const std::vector<Recorder>& recorders() {
  static const std::vector<Recorder> all = {
      {"aclrtRecordEvent", [](aclrtEvent e, aclrtStream s) { return aclrtRecordEvent(e, s); }},
      {"aclrtRecordEventWithFlag",
       [](aclrtEvent e, aclrtStream s) { return aclrtRecordEventWithFlag(e, s, ACL_EVENT_RECORD_DEFAULT); }},
      {"aclrtResetEvent", [](aclrtEvent e, aclrtStream s) { return aclrtResetEvent(e, s); }}};
  return all;
}

TEST_F(EventRecord, R164_NullEventIsRefusedFirst) {
  for (const Recorder& recorder : recorders()) {
    expect_not_stored(recorder.call(nullptr, nullptr), kBadArgument, recorder.api);
    expect_not_stored(recorder.call(nullptr, sentinel()), kBadArgument, recorder.api);
    without_context(
        [&recorder] { expect_not_stored(recorder.call(nullptr, nullptr), kBadArgument, recorder.api); });
  }
}

TEST_F(EventRecord, R164_R10_StaleEvents) {
  Stream stream;
  const Notify notify;
  Event event{Kind::flagged};
  std::vector<void*> wrong = garbage();
  wrong.push_back(event.destroy_now());
  wrong.push_back(notify);
  wrong.push_back(stream);
  for (const Recorder& recorder : recorders()) {
    for (void* const handle : wrong) {
      expect_stored(recorder.call(handle, stream), kStale, recorder.api);
      expect_stored(recorder.call(handle, nullptr), kStale, recorder.api);
    }
  }
  EXPECT_TRUE(idle(stream));
}

TEST_F(EventRecord, R164_R10_StaleStreams) {
  const Event event{Kind::flagged};
  const Notify notify;
  Stream stream;
  std::vector<void*> wrong = garbage();
  wrong.push_back(stream.destroy_now());
  wrong.push_back(notify);
  wrong.push_back(event);
  for (const Recorder& recorder : recorders()) {
    for (void* const handle : wrong) expect_stored(recorder.call(event, handle), kStale, recorder.api);
  }
  EXPECT_EQ(recorded(event), kNotReady) << "nothing was recorded";
}

TEST_F(EventRecord, R164_R11_NeedsAContext) {
  const Event event{Kind::flagged};
  const Stream stream;
  for (const Recorder& recorder : recorders()) {
    without_context([&] {
      expect_stored(recorder.call(event, nullptr), kNoContext, recorder.api);
      expect_stored(recorder.call(event, stream), kNoContext, recorder.api);
    });
  }
  EXPECT_EQ(recorded(event), kNotReady);
}

TEST_F(EventRecord, R164_R12_StreamsOfOtherContexts) {
  const Event event{Kind::flagged};
  const Elsewhere here, there{1};
  for (const aclrtStream stream : {here.stream(), there.stream()}) {
    for (const Recorder& recorder : recorders()) {
      EXPECT_EQ(recorder.call(event, stream), kOtherContext);
      EXPECT_EQ(last_error(), kOtherContext);
      const std::string text = recent_message();
      EXPECT_TRUE(mentions(text, recorder.api) && mentions(text, "EE1010")) << text;
    }
  }
  EXPECT_EQ(recorded(event), kNotReady);
}

TEST_F(EventRecord, R164_R13_NullIsTheDefaultStreamOfTheCurrentContext) {
  const Event event{Kind::plain};
  NotifyGate gate;
  gate.hold(nullptr);
  const Elsewhere other;
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  EXPECT_EQ(recorded(event), kNotReady) << "behind what the default stream holds";
  other.enter();
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, 30000), ACL_SUCCESS)
      << "the default stream of the other context is free";
  other.leave();
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  EXPECT_EQ(recorded(event), kNotReady);
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(recorded(event), kComplete);
}

// One gate before the record and one behind it: only the first counts.
TEST_F(EventRecord, R165_ItStandsForWhatWasQueuedBefore) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    NotifyGate before, behind;
    const Device block{64};
    write_to(block.get(), Bytes(64, 0));
    const Event event{kind};
    before.hold(stream);
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 1, 64, stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS) << "returns at once, though the stream is held";
    behind.hold(stream);
    EXPECT_EQ(recorded(event), kNotReady);
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, kMoment), kEventTimeout);
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0));
    before.open();
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, 30000), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 1));
    EXPECT_EQ(recorded(event), kComplete);
    EXPECT_FALSE(idle(stream)) << "what came later is no part of it";
    behind.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
  }
}

TEST_F(EventRecord, R165_OnAnEmptyStreamItCompletesAtOnce) {
  for (const Kind kind : all_kinds()) {
    Stream stream;
    const Event event{kind};
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kComplete);
  }
}

TEST_F(EventRecord, R166_ANewRecordReplacesTheCapture) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream first, second, third;
    NotifyGate slow, slower;
    const Event event{kind};
    slow.hold(first);
    EXPECT_EQ(aclrtRecordEvent(event, first), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, second), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(event, 30000), ACL_SUCCESS)
        << "the held record counts no more";
    EXPECT_EQ(recorded(event), kComplete);
    slower.hold(third);
    EXPECT_EQ(aclrtRecordEvent(event, third), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kNotReady);
    slow.open();
    EXPECT_EQ(finish(first), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kNotReady) << "an old record that arrives late completes nothing";
    slower.open();
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kComplete);
  }
}

TEST_F(EventRecord, R166_WaitsKeepTheCaptureTheySaw) {
  for (const Kind kind : all_kinds()) {
    for (const bool old_one_first : {true, false}) {
      SCOPED_TRACE(std::string{name_of(kind)} + (old_one_first ? ", old first" : ", new first"));
      Stream old_stream, new_stream, waiter, late_waiter;
      NotifyGate old_gate, new_gate;
      const Event event{kind};
      old_gate.hold(old_stream);
      new_gate.hold(new_stream);
      EXPECT_EQ(aclrtRecordEvent(event, old_stream), ACL_SUCCESS);
      EXPECT_EQ(::aclrtStreamWaitEvent(waiter, event), ACL_SUCCESS);
      EXPECT_EQ(aclrtRecordEvent(event, new_stream), ACL_SUCCESS);
      EXPECT_EQ(::aclrtStreamWaitEvent(late_waiter, event), ACL_SUCCESS);
      (old_one_first ? old_gate : new_gate).open();
      EXPECT_EQ(finish(old_one_first ? waiter : late_waiter), ACL_SUCCESS);
      expect_held(old_one_first ? late_waiter : waiter);
      EXPECT_EQ(recorded(event), old_one_first ? kNotReady : kComplete);
      (old_one_first ? new_gate : old_gate).open();
      EXPECT_EQ(finish(old_one_first ? late_waiter : waiter), ACL_SUCCESS);
      EXPECT_EQ(recorded(event), kComplete);
    }
  }
}

TEST_F(EventRecord, R167_TheDefaultFlagRecords) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    NotifyGate gate;
    const Event event{kind};
    gate.hold(stream);
    EXPECT_EQ(aclrtRecordEventWithFlag(event, stream, ACL_EVENT_RECORD_DEFAULT), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kNotReady);
    gate.open();
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kComplete);
    EXPECT_EQ(aclrtRecordEventWithFlag(event, nullptr, 0), ACL_SUCCESS) << "the same flag again";
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
  }
}

TEST_F(EventRecord, R167_OtherFlags) {
  Stream stream;
  const Event event{Kind::ex};
  for (const std::uint32_t flag : {2U, 3U, 0x80000000U, 0xFFFFFFFFU}) {
    expect_not_stored(aclrtRecordEventWithFlag(event, stream, flag), kBadArgument,
                      "aclrtRecordEventWithFlag");
    expect_not_stored(aclrtRecordEventWithFlag(event, sentinel(), flag), kBadArgument,
                      "aclrtRecordEventWithFlag");
  }
  EXPECT_EQ(aclrtRecordEventWithFlag(event, stream, 0), ACL_SUCCESS)
      << "a number that is no flag stays nowhere";
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(EventRecord, R167_TheExternalFlag) {
  Stream stream;
  const Event plain{Kind::plain}, flagged{Kind::flagged};
  const Event timed{Kind::ex, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE}, only_time{Kind::ex, ACL_EVENT_TIME_LINE};
  for (const Event* const event : {&plain, &flagged, &timed, &only_time}) {
    expect_not_stored(aclrtRecordEventWithFlag(*event, stream, ACL_EVENT_RECORD_EXTERNAL), kUnsupported,
                      "aclrtRecordEventWithFlag");
  }
  const Event exactly{Kind::ex};
  expect_stored(aclrtRecordEventWithFlag(exactly, stream, ACL_EVENT_RECORD_EXTERNAL), kNotCaptured,
                "aclrtRecordEventWithFlag");
  EXPECT_EQ(recorded(plain), kNotReady);
  EXPECT_TRUE(idle(stream));
}

TEST_F(EventRecord, R167_TheFirstFlagSticks) {
  Stream stream;
  const Event external{Kind::ex};
  EXPECT_EQ(aclrtRecordEventWithFlag(external, stream, ACL_EVENT_RECORD_EXTERNAL), kNotCaptured);
  last_error();
  recent_message();
  expect_stored(aclrtRecordEventWithFlag(external, stream, ACL_EVENT_RECORD_DEFAULT), kBadValue,
                "aclrtRecordEventWithFlag");
  EXPECT_EQ(aclrtRecordEventWithFlag(external, stream, ACL_EVENT_RECORD_EXTERNAL), kNotCaptured)
      << "the first still goes as far as before";
  last_error();
  recent_message();

  const Event usual{Kind::ex};
  EXPECT_EQ(aclrtRecordEventWithFlag(usual, stream, ACL_EVENT_RECORD_DEFAULT), ACL_SUCCESS);
  expect_stored(aclrtRecordEventWithFlag(usual, stream, ACL_EVENT_RECORD_EXTERNAL), kBadValue,
                "aclrtRecordEventWithFlag");
  EXPECT_EQ(aclrtRecordEventWithFlag(usual, stream, ACL_EVENT_RECORD_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(recorded(usual), kComplete);
}

TEST_F(EventRecord, R168_KindsThatCannotBeReset) {
  Stream stream;
  const Event ex{Kind::ex}, all{Kind::ex, 0xB};
  const Event progress{Kind::flagged, ACL_EVENT_CAPTURE_STREAM_PROGRESS};
  const Event timed{Kind::flagged, ACL_EVENT_TIME_LINE}, external{Kind::flagged, ACL_EVENT_EXTERNAL};
  for (const Event* const event : {&ex, &all, &progress, &timed, &external}) {
    expect_not_stored(aclrtResetEvent(*event, stream), kUnsupported, "aclrtResetEvent");
    expect_not_stored(aclrtResetEvent(*event, nullptr), kUnsupported, "aclrtResetEvent");
  }
  EXPECT_TRUE(idle(stream));
}

// The documents leave a plain event open; here it acts as the flagged one.
TEST_F(EventRecord, R168_AResetEventIsLikeOneNeverRecorded) {
  for (const Kind kind : {Kind::flagged, Kind::plain}) {
    SCOPED_TRACE(name_of(kind));
    Stream stream, waiter;
    const Event event{kind, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE};
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    std::uint64_t time = 0;
    EXPECT_EQ(aclrtEventGetTimestamp(event, &time), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetEvent(event, stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kNotReady);
    EXPECT_EQ(queried(event), ACL_EVENT_STATUS_COMPLETE);
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS) << "nothing to wait for";
    EXPECT_EQ(aclrtEventGetTimestamp(event, &time), kInternal);
    if (kind == Kind::flagged) {
      EXPECT_EQ(::aclrtStreamWaitEvent(waiter, event), ACL_SUCCESS);
      expect_held(waiter);
    } else {
      EXPECT_EQ(::aclrtStreamWaitEvent(waiter, event), kBadValue);
    }
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS) << "and it can be recorded again";
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kComplete);
  }
}

TEST_F(EventRecord, R168_AResetIsQueued) {
  Stream stream, resetting, waiter;
  NotifyGate gate;
  const Event event{Kind::flagged};
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  gate.hold(resetting);
  EXPECT_EQ(aclrtResetEvent(event, resetting), ACL_SUCCESS);
  EXPECT_EQ(recorded(event), kComplete) << "the stream has not come to it";
  EXPECT_FALSE(idle(resetting));
  EXPECT_EQ(::aclrtStreamWaitEvent(waiter, event), ACL_SUCCESS) << "which is for the next record";
  gate.open();
  EXPECT_EQ(finish(resetting), ACL_SUCCESS);
  EXPECT_EQ(recorded(event), kNotReady);
  expect_held(waiter);
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(waiter), ACL_SUCCESS);
}

TEST_F(EventRecord, R168_ARefusedResetChangesNothing) {
  Stream stream;
  const Stream only_for_the_device{ACL_STREAM_DEVICE_USE_ONLY};
  const Event event{Kind::flagged};
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetEvent(event, only_for_the_device), kBadValue) << "no host work goes there (R-130)";
  EXPECT_EQ(recorded(event), kComplete);
  EXPECT_EQ(::aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(EventRecord, R164_ARefusedRecordChangesNothing) {
  for (const Kind kind : all_kinds()) {
    Stream stream;
    const Stream only_for_the_device{ACL_STREAM_DEVICE_USE_ONLY};
    const Event event{kind};
    EXPECT_EQ(aclrtRecordEvent(event, only_for_the_device), kBadValue);
    EXPECT_EQ(recorded(event), kind == Kind::ex ? kComplete : kNotReady) << name_of(kind);
    if (kind == Kind::flagged) {  // who waits is still there for the next record
      EXPECT_EQ(::aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
      EXPECT_EQ(aclrtRecordEvent(event, only_for_the_device), kBadValue);
      expect_held(stream);
    }
    EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
    EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kComplete);
  }
}

// The usual loop of a flagged event: record, wait, reset, and once more.
TEST_F(EventRecord, R168_RecordWaitResetInALoop) {
  Stream producer, consumer;
  const Device block{64};
  const Event event{Kind::flagged};
  for (int round = 1; round <= 20; ++round) {
    NotifyGate gate;
    gate.hold(producer);
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, round, 64, producer), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(consumer, event), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetEvent(event, consumer), ACL_SUCCESS);
    EXPECT_FALSE(idle(consumer));
    gate.open();
    EXPECT_EQ(finish(consumer), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, static_cast<std::uint8_t>(round)));
    EXPECT_EQ(recorded(event), kNotReady);
  }
}

}  // namespace event_record_test
