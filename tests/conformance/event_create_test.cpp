// The three kinds of event: which flags make one, what makes none, and their end.
#include "support/gates.h"
#include "support/refusals.h"
#include "support/worker.h"

namespace event_create_test {

using namespace belay_test;

class EventCreate : public OnDevice {};

const std::vector<std::pair<Kind, std::string>>& creators() {
  static const std::vector<std::pair<Kind, std::string>> all = {{Kind::plain, "aclrtCreateEvent"},
                                                                {Kind::flagged, "aclrtCreateEventWithFlag"},
                                                                {Kind::ex, "aclrtCreateEventExWithFlag"}};
  return all;
}

TEST_F(EventCreate, R158_NullIsRefusedFirst) {
  for (const auto& [kind, api] : creators()) {
    expect_not_stored(create(kind, nullptr, ACL_EVENT_SYNC), kBadArgument, api);
    expect_not_stored(create(kind, nullptr, 0), kBadArgument, api);
    expect_not_stored(create(kind, nullptr, 0xFFFFFFFF), kBadArgument, api);
    without_context([&kind = kind, &api = api] {
      expect_not_stored(create(kind, nullptr, ACL_EVENT_SYNC), kBadArgument, api);
    });
  }
}

TEST_F(EventCreate, R158_R11_NeedsAContext) {
  without_context([] {
    for (const auto& [kind, api] : creators()) {
      aclrtEvent event = sentinel();
      EXPECT_EQ(create(kind, &event, ACL_EVENT_SYNC), kNoContext) << api;
      EXPECT_EQ(event, sentinel());
      EXPECT_EQ(last_error(), kNoContext);
      const std::string text = recent_message();
      EXPECT_TRUE(mentions(text, "EE1018")) << text;
      EXPECT_TRUE(mentions(text, api)) << text;
      EXPECT_TRUE(mentions(text, "aclrtSetDevice")) << text;
    }
  });
}

void expect_flag(Kind kind, const std::string& api, std::uint32_t flag, int expected) {
  SCOPED_TRACE(api + " " + std::to_string(flag));
  aclrtEvent event = sentinel();
  EXPECT_EQ(create(kind, &event, flag), expected);
  if (expected == ACL_SUCCESS) {
    EXPECT_NE(event, sentinel());
    EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    return;
  }
  EXPECT_EQ(event, sentinel());
  EXPECT_EQ(last_error(), expected == kUnsupported ? ACL_SUCCESS : expected);
  EXPECT_TRUE(mentions(recent_message(), api));
}

// 0x4 is the bit that the documents do not name.
TEST_F(EventCreate, R158_FlagsOfTheFlaggedKind) {
  for (std::uint32_t flag = 0; flag < 0x100; ++flag) {
    const bool legal = (flag >= 1 && flag <= 0xF) || flag == 0x10 || flag == 0x20;
    expect_flag(Kind::flagged, "aclrtCreateEventWithFlag", flag, legal ? ACL_SUCCESS : kBadValue);
  }
  for (std::uint32_t bit = 0x100; bit != 0; bit <<= 1U) {
    expect_flag(Kind::flagged, "aclrtCreateEventWithFlag", bit, kBadValue);
    expect_flag(Kind::flagged, "aclrtCreateEventWithFlag", bit | ACL_EVENT_SYNC, kBadValue);
  }
  expect_flag(Kind::flagged, "aclrtCreateEventWithFlag", 0xFFFFFFFF, kBadValue);
}

TEST_F(EventCreate, R158_R188_FlagsOfTheExKind) {
  for (std::uint32_t flag = 0; flag < 0x100; ++flag) {
    const bool legal = (flag >= 1 && flag <= 0xF) || flag == ACL_EVENT_IPC;
    expect_flag(Kind::ex, "aclrtCreateEventExWithFlag", flag, legal ? ACL_SUCCESS : kBadValue);
  }
  for (std::uint32_t bit = 0x100; bit != 0; bit <<= 1U) {
    expect_flag(Kind::ex, "aclrtCreateEventExWithFlag", bit, kBadValue);
    expect_flag(Kind::ex, "aclrtCreateEventExWithFlag", bit | ACL_EVENT_IPC, kBadValue);
  }
  expect_flag(Kind::ex, "aclrtCreateEventExWithFlag", 0xFFFFFFFF, kBadValue);
}

TEST_F(EventCreate, R158_TheUndocumentedBitActsAsSync) {
  for (const std::uint32_t flag : {0x4U, 0x4U | ACL_EVENT_TIME_LINE}) {
    SCOPED_TRACE(flag);
    Stream waiter, recorder;
    const Event flagged{Kind::flagged, flag};
    EXPECT_EQ(::aclrtStreamWaitEvent(waiter, flagged), ACL_SUCCESS);
    expect_held(waiter);
    EXPECT_EQ(aclrtRecordEvent(flagged, recorder), ACL_SUCCESS);
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetEvent(flagged, recorder), ACL_SUCCESS);
    EXPECT_EQ(finish(recorder), ACL_SUCCESS);
    const Event ex{Kind::ex, flag};
    EXPECT_EQ(aclrtRecordEvent(ex, recorder), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(waiter, ex), ACL_SUCCESS);
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
  }
}

TEST_F(EventCreate, R158_EveryEventIsAnother) {
  std::vector<aclrtEvent> events;
  for (int i = 0; i < 300; ++i) {
    aclrtEvent event = nullptr;
    ASSERT_EQ(create(all_kinds()[static_cast<std::size_t>(i) % 3], &event, ACL_EVENT_SYNC), ACL_SUCCESS);
    events.push_back(event);
  }
  std::vector<aclrtEvent> sorted = events;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const aclrtEvent event : events) EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(EventCreate, R161_DeviceOnlyEventsAreNotForTheHost) {
  Stream stream;
  const Event event{Kind::flagged, ACL_EVENT_DEVICE_USE_ONLY};
  expect_stored(aclrtRecordEvent(event, stream), kBadValue, "aclrtRecordEvent");
  expect_stored(aclrtRecordEvent(event, nullptr), kBadValue, "aclrtRecordEvent");
  expect_stored(::aclrtStreamWaitEvent(stream, event), kBadValue, "aclrtStreamWaitEvent");
  expect_stored(::aclrtStreamWaitEventWithTimeout(stream, event, 1), kBadValue,
                "aclrtStreamWaitEventWithTimeout");
  expect_stored(aclrtResetEvent(event, stream), kBadValue, "aclrtResetEvent");
  EXPECT_TRUE(idle(stream)) << "nothing was queued";
}

TEST_F(EventCreate, R162_R10_OnlyALiveEventCanBeDestroyed) {
  expect_not_stored(aclrtDestroyEvent(nullptr), kBadArgument, "aclrtDestroyEvent");
  for (const Kind kind : all_kinds()) {
    Event event{kind};
    const aclrtEvent gone = event.destroy_now();
    EXPECT_EQ(aclrtDestroyEvent(gone), kStale);
    EXPECT_EQ(last_error(), kStale);
    EXPECT_TRUE(mentions(recent_message(), "EE1017"));
    expect_stored(aclrtDestroyEvent(gone), kStale, "aclrtDestroyEvent");
  }
  for (void* const handle : garbage()) {
    expect_stored(aclrtDestroyEvent(handle), kStale, "aclrtDestroyEvent");
  }
  const Stream stream;
  const Notify notify;
  const Device block{64};
  aclrtContext context = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  for (void* const other : {static_cast<void*>(stream), static_cast<void*>(notify), block.get(), context}) {
    EXPECT_EQ(aclrtDestroyEvent(other), kStale) << "an object of another kind";
  }
  EXPECT_TRUE(idle(stream)) << "it was left alone";
  std::uint32_t id = 0;
  EXPECT_EQ(aclrtGetNotifyId(notify, &id), ACL_SUCCESS);
}

TEST_F(EventCreate, R162_NeedsNoContext) {
  for (const Kind kind : all_kinds()) {
    aclrtEvent event = nullptr;
    ASSERT_EQ(create(kind, &event, ACL_EVENT_SYNC), ACL_SUCCESS);
    without_context([event] { EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS); });
    EXPECT_EQ(aclrtDestroyEvent(event), kStale);
  }
}

// The record is still held, and somebody waits for it: the destruction returns, both are done later.
TEST_F(EventCreate, R162_NeverBlocksAndWhatIsQueuedStillCompletes) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream recorder, waiter;
    NotifyGate gate;
    Device block{64};
    write_to(block.get(), Bytes(64, 0));
    gate.hold(recorder);
    Event event{kind};
    EXPECT_EQ(aclrtRecordEvent(event, recorder), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(waiter, event), ACL_SUCCESS);
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 7, 64, waiter), ACL_SUCCESS);
    event.destroy_now();
    expect_held(waiter);
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0));
    gate.open();
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 7));
    EXPECT_EQ(finish(recorder), ACL_SUCCESS);
  }
}

TEST_F(EventCreate, R163_AnyContextOfTheDevice) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    const Event event{kind};
    const Elsewhere recording, waiting;
    const aclrtStream recorder = recording.stream(), waiter = waiting.stream();
    recording.enter();
    {
      NotifyGate gate;
      gate.hold(recorder);
      EXPECT_EQ(aclrtRecordEvent(event, recorder), ACL_SUCCESS);
      waiting.enter();
      EXPECT_EQ(::aclrtStreamWaitEvent(waiter, event), ACL_SUCCESS);
      expect_held(waiter);
      recording.enter();
      gate.open();
    }
    EXPECT_EQ(finish(waiter), ACL_SUCCESS) << "another context's stream can be waited for (R-139)";
    EXPECT_EQ(recorded(event), kComplete);
    recording.leave();
  }
}

TEST_F(EventCreate, R163_R118_AnEventSurvivesTheContextThatMadeIt) {
  aclrtEvent event = nullptr;
  {
    const Elsewhere made;
    made.enter();
    ASSERT_EQ(::aclrtCreateEvent(&event), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
  }
  EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS) << "in the default context now";
  EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(recorded(event), kComplete);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(EventCreate, R163_AcrossDevices) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    const Event event{kind};
    Stream waiter;
    const Elsewhere other{1};
    const aclrtStream recorder = other.stream();
    other.enter();
    {
      NotifyGate gate;
      gate.hold(recorder);
      EXPECT_EQ(aclrtRecordEvent(event, recorder), ACL_SUCCESS) << "made on device 0, recorded on 1";
      other.leave();
      EXPECT_EQ(::aclrtStreamWaitEvent(waiter, event), ACL_SUCCESS);
      expect_held(waiter);
      other.enter();
      gate.open();
    }
    other.leave();
    EXPECT_EQ(finish(waiter), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kComplete);
  }
}

TEST_F(EventCreate, R18_ManyThreadsMakeAndDestroy) {
  std::vector<std::thread> threads;
  std::atomic<int> troubled{0};
  for (unsigned t = 0; t < 6; ++t) {
    threads.emplace_back([t, &troubled] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (unsigned i = 0; i < 300; ++i) {
        const Kind kind = all_kinds()[(t + i) % 3];
        aclrtEvent event = nullptr;
        EXPECT_EQ(create(kind, &event, ACL_EVENT_SYNC), ACL_SUCCESS);
        EXPECT_EQ(aclrtRecordEvent(event, nullptr), ACL_SUCCESS);
        EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
        if (i % 50 == 0) {
          EXPECT_EQ(::aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
        }
      }
      EXPECT_EQ(::aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
      if (last_error() != ACL_SUCCESS) ++troubled;
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(troubled, 0);
}

}  // namespace event_create_test
