// Streams that wait for events: what is refused, and what a wait holds back.
#include "support/gates.h"
#include "support/refusals.h"

namespace event_wait_test {

using namespace belay_test;

class EventWait : public OnDevice {};

struct Waiter {
  std::string api;
  std::function<int(aclrtStream, aclrtEvent)> call;
};

const std::vector<Waiter>& waiters() {
  static const std::vector<Waiter> all = {
      {"aclrtStreamWaitEvent", [](aclrtStream s, aclrtEvent e) { return ::aclrtStreamWaitEvent(s, e); }},
      {"aclrtStreamWaitEventWithTimeout",
       [](aclrtStream s, aclrtEvent e) { return ::aclrtStreamWaitEventWithTimeout(s, e, 0); }},
      {"aclrtStreamWaitEventWithFlag", [](aclrtStream s, aclrtEvent e) {
         return ::aclrtStreamWaitEventWithFlag(s, e, 0, ACL_EVENT_WAIT_DEFAULT);
       }}};
  return all;
}

TEST_F(EventWait, R169_NullEvents) {
  Stream stream;
  for (const aclrtStream where : {static_cast<aclrtStream>(stream), aclrtStream{nullptr}}) {
    expect_not_stored(::aclrtStreamWaitEvent(where, nullptr), kBadArgument, "aclrtStreamWaitEvent");
    expect_not_stored(::aclrtStreamWaitEventWithFlag(where, nullptr, 0, 0), kBadArgument,
                      "aclrtStreamWaitEventWithFlag");
    for (const std::int32_t timeout : {0, 1}) {  // not 100000 here
      expect_stored(::aclrtStreamWaitEventWithTimeout(where, nullptr, timeout), kBadValue,
                    "aclrtStreamWaitEventWithTimeout");
    }
  }
  without_context([] {
    expect_not_stored(::aclrtStreamWaitEvent(nullptr, nullptr), kBadArgument, "aclrtStreamWaitEvent");
    expect_not_stored(::aclrtStreamWaitEventWithFlag(nullptr, nullptr, 0, 0), kBadArgument,
                      "aclrtStreamWaitEventWithFlag");
  });
}

TEST_F(EventWait, R169_R10_StaleHandles) {
  Stream stream, gone_stream;
  Event gone_event{Kind::ex};
  const Event event{Kind::ex};
  const Notify notify;
  std::vector<void*> wrong = garbage();
  wrong.push_back(gone_stream.destroy_now());
  wrong.push_back(gone_event.destroy_now());
  wrong.push_back(notify);
  for (const Waiter& waiter : waiters()) {
    for (void* const handle : wrong) {
      expect_stored(waiter.call(stream, handle), kStale, waiter.api);
      expect_stored(waiter.call(nullptr, handle), kStale, waiter.api);
      expect_stored(waiter.call(handle, event), kStale, waiter.api);
    }
    expect_stored(waiter.call(stream, stream), kStale, waiter.api);
    expect_stored(waiter.call(event, event), kStale, waiter.api);
  }
  EXPECT_TRUE(idle(stream));
}

TEST_F(EventWait, R169_R11_R12_Contexts) {
  const Event event{Kind::flagged};
  const Stream stream;
  const Elsewhere other, other_device{1};
  for (const Waiter& waiter : waiters()) {
    without_context([&] {
      expect_stored(waiter.call(stream, event), kNoContext, waiter.api);
      expect_stored(waiter.call(nullptr, event), kNoContext, waiter.api);
    });
    for (const Elsewhere* const elsewhere : {&other, &other_device}) {
      EXPECT_EQ(waiter.call(elsewhere->stream(), event), kOtherContext);
      EXPECT_EQ(last_error(), kOtherContext);
      const std::string text = recent_message();
      EXPECT_TRUE(mentions(text, waiter.api) && mentions(text, "EE1010")) << text;
    }
  }
  EXPECT_EQ(waited(event), ACL_EVENT_WAIT_STATUS_COMPLETE) << "nothing waits";
}

TEST_F(EventWait, R169_EventsThatCannotBeWaitedFor) {
  Stream stream;
  for (const std::uint32_t flag : {ACL_EVENT_CAPTURE_STREAM_PROGRESS, ACL_EVENT_TIME_LINE,
                                   ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE}) {
    for (const Kind kind : {Kind::flagged, Kind::ex}) {
      SCOPED_TRACE(std::string{name_of(kind)} + " " + std::to_string(flag));
      const Event event{kind, flag};
      for (const Waiter& waiter : waiters())
        expect_not_stored(waiter.call(stream, event), kUnsupported, waiter.api);
      EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
      for (const Waiter& waiter : waiters())
        expect_not_stored(waiter.call(stream, event), kUnsupported, waiter.api);
    }
  }
  EXPECT_TRUE(idle(stream));
}

TEST_F(EventWait, R170_LaterTasksStartAfterTheRecord) {
  for (const Kind kind : all_kinds()) {
    for (const Waiter& waiter : waiters()) {
      SCOPED_TRACE(std::string{name_of(kind)} + " " + waiter.api);
      Stream producer, consumer;
      NotifyGate gate;
      const Device from{64}, to{64};
      write_to(from.get(), Bytes(64, 1));
      write_to(to.get(), Bytes(64, 9));
      const Event event{kind};
      gate.hold(producer);
      EXPECT_EQ(::aclrtMemsetAsync(from.get(), 64, 2, 64, producer), ACL_SUCCESS);
      EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
      EXPECT_EQ(waiter.call(consumer, event), ACL_SUCCESS) << "the host does not wait";
      EXPECT_EQ(::aclrtMemcpyAsync(to.get(), 64, from.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, consumer),
                ACL_SUCCESS);
      expect_held(consumer);
      EXPECT_EQ(read_from(to.get(), 64), Bytes(64, 9));
      gate.open();
      EXPECT_EQ(finish(consumer), ACL_SUCCESS);
      EXPECT_EQ(read_from(to.get(), 64), Bytes(64, 2));
    }
  }
}

TEST_F(EventWait, R170_EarlierTasksAndOtherStreamsAreNotHeld) {
  Stream producer, consumer, free;
  NotifyGate gate;
  const Event event{Kind::plain}, passed{Kind::plain};
  gate.hold(producer);
  EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(passed, consumer), ACL_SUCCESS);
  EXPECT_EQ(::aclrtStreamWaitEvent(consumer, event), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeEventWithTimeout(passed, 30000), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(passed, free), ACL_SUCCESS);
  EXPECT_EQ(finish(free), ACL_SUCCESS);
  EXPECT_EQ(finish(nullptr), ACL_SUCCESS) << "the default stream is one like any other (R-17)";
  EXPECT_FALSE(idle(consumer));
}

TEST_F(EventWait, R170_AnyNumberOfStreamsWaitForOneEvent) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    std::vector<std::unique_ptr<Stream>> streams;
    for (int i = 0; i < 64; ++i) streams.push_back(std::make_unique<Stream>());
    Stream producer;
    NotifyGate gate;
    const Event event{kind};
    gate.hold(producer);
    EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
    for (const auto& stream : streams) EXPECT_EQ(::aclrtStreamWaitEvent(*stream, event), ACL_SUCCESS);
    for (const auto& stream : streams) EXPECT_FALSE(idle(*stream));
    expect_held(*streams.back());
    gate.open();
    for (const auto& stream : streams) EXPECT_EQ(finish(*stream), ACL_SUCCESS);
  }
}

// Each stream waits for the one before it, and adds one to a word that all of them share.
TEST_F(EventWait, R170_AChainOfStreams) {
  constexpr std::size_t kLength = 24;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Event>> events;
  const Device words{8 * (kLength + 1)};
  write_to(words.get(), Bytes(8 * (kLength + 1), 0));
  write_to(words.get(), {1, 2, 3, 4, 5, 6, 7, 8});
  for (std::size_t i = 0; i < kLength; ++i) {
    streams.push_back(std::make_unique<Stream>());
    events.push_back(std::make_unique<Event>(all_kinds()[i % 3]));
  }
  NotifyGate gate;
  gate.hold(*streams[0]);
  for (std::size_t i = 0; i < kLength; ++i) {
    if (i != 0) {
      EXPECT_EQ(::aclrtStreamWaitEvent(*streams[i], *events[i - 1]), ACL_SUCCESS);
    }
    EXPECT_EQ(::aclrtMemcpyAsync(words.get(8 * (i + 1)), 8, words.get(8 * i), 8, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                 *streams[i]),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(*events[i], *streams[i]), ACL_SUCCESS);
  }
  expect_held(*streams.back());
  EXPECT_EQ(read_from(words.get(8), 8 * kLength), Bytes(8 * kLength, 0));
  gate.open();
  EXPECT_EQ(finish(*streams.back()), ACL_SUCCESS);
  EXPECT_EQ(read_from(words.get(8 * kLength), 8), (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
}

TEST_F(EventWait, R171_APlainEventMustBeRecordedFirst) {
  Stream stream;
  const Event event{Kind::plain};
  for (const Waiter& waiter : waiters()) {
    EXPECT_EQ(waiter.call(stream, event), kBadValue) << waiter.api;
    EXPECT_EQ(last_error(), kBadValue);
    const std::string text = recent_message();
    EXPECT_TRUE(mentions(text, "EE1018") && mentions(text, waiter.api)) << text;
  }
  EXPECT_TRUE(idle(stream)) << "nothing was queued";
}

TEST_F(EventWait, R171_AnExEventThatWasNeverRecordedHoldsNothing) {
  Stream stream;
  const Event event{Kind::ex};
  for (const Waiter& waiter : waiters()) {
    EXPECT_EQ(waiter.call(stream, event), ACL_SUCCESS) << waiter.api;
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
  }
  // What is recorded later does not concern a wait from before.
  Stream producer;
  NotifyGate gate;
  gate.hold(producer);
  EXPECT_EQ(::aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(recorded(event), kNotReady);
}

TEST_F(EventWait, R171_AFlaggedEventHoldsTheStreamUntilALaterRecordCompletes) {
  for (const Waiter& waiter : waiters()) {
    SCOPED_TRACE(waiter.api);
    Stream stream, producer;
    NotifyGate gate;
    const Event event{Kind::flagged};
    EXPECT_EQ(waiter.call(stream, event), ACL_SUCCESS);
    expect_held(stream);
    gate.hold(producer);
    EXPECT_EQ(aclrtRecordEvent(event, producer), ACL_SUCCESS);
    expect_held(stream);
    gate.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS) << "its completion, not the call";
  }
}

TEST_F(EventWait, R172_WaitingOnTheStreamThatRecordedIsNothing) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    NotifyGate gate;
    const Device block{64};
    const Event event{kind};
    gate.hold(stream);
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    for (const Waiter& waiter : waiters()) EXPECT_EQ(waiter.call(stream, event), ACL_SUCCESS);
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 5, 64, stream), ACL_SUCCESS);
    gate.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 5));
  }
}

TEST_F(EventWait, R172_WaitingForACompleteEventIsNothing) {
  for (const Kind kind : all_kinds()) {
    SCOPED_TRACE(name_of(kind));
    Stream recorder, stream;
    const Event event{kind};
    EXPECT_EQ(aclrtRecordEvent(event, recorder), ACL_SUCCESS);
    EXPECT_EQ(finish(recorder), ACL_SUCCESS);
    for (const Waiter& waiter : waiters()) {
      EXPECT_EQ(waiter.call(stream, event), ACL_SUCCESS);
      EXPECT_EQ(finish(stream), ACL_SUCCESS);
    }
  }
}

TEST_F(EventWait, R174_Flags) {
  Stream stream;
  const Event event{Kind::ex};
  const std::string api = "aclrtStreamWaitEventWithFlag";
  for (const std::uint32_t flag : {2U, 3U, 0x80000000U, 0xFFFFFFFFU}) {
    expect_not_stored(::aclrtStreamWaitEventWithFlag(stream, event, 0, flag), kBadArgument, api);
    expect_not_stored(::aclrtStreamWaitEventWithFlag(sentinel(), event, 0, flag), kBadArgument, api);
  }
  for (const std::uint32_t timeout : {1U, 0xFFFFFFFFU}) {
    expect_not_stored(::aclrtStreamWaitEventWithFlag(stream, event, timeout, ACL_EVENT_WAIT_EXTERNAL),
                      kBadArgument, api);
  }
  EXPECT_EQ(::aclrtStreamWaitEventWithFlag(stream, event, 5, ACL_EVENT_WAIT_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(EventWait, R174_TheExternalFlag) {
  Stream stream;
  const std::string api = "aclrtStreamWaitEventWithFlag";
  const Event plain{Kind::plain}, flagged{Kind::flagged};
  const Event timed{Kind::ex, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE};
  EXPECT_EQ(aclrtRecordEvent(plain, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  for (const Event* const event : {&plain, &flagged, &timed}) {
    expect_not_stored(::aclrtStreamWaitEventWithFlag(stream, *event, 0, ACL_EVENT_WAIT_EXTERNAL),
                      kUnsupported, api);
  }
  const Event exactly{Kind::ex};
  expect_stored(::aclrtStreamWaitEventWithFlag(stream, exactly, 0, ACL_EVENT_WAIT_EXTERNAL), kNotCaptured,
                api);
  EXPECT_TRUE(idle(stream));
}

TEST_F(EventWait, R174_TheFirstFlagSticks) {
  Stream stream;
  const std::string api = "aclrtStreamWaitEventWithFlag";
  const Event external{Kind::ex}, usual{Kind::ex};
  EXPECT_EQ(::aclrtStreamWaitEventWithFlag(stream, external, 0, ACL_EVENT_WAIT_EXTERNAL), kNotCaptured);
  last_error();
  recent_message();
  expect_stored(::aclrtStreamWaitEventWithFlag(stream, external, 0, ACL_EVENT_WAIT_DEFAULT), kBadValue, api);
  EXPECT_EQ(::aclrtStreamWaitEventWithFlag(stream, external, 0, ACL_EVENT_WAIT_EXTERNAL), kNotCaptured);
  last_error();
  recent_message();
  EXPECT_EQ(::aclrtStreamWaitEventWithFlag(stream, usual, 0, ACL_EVENT_WAIT_DEFAULT), ACL_SUCCESS);
  expect_stored(::aclrtStreamWaitEventWithFlag(stream, usual, 0, ACL_EVENT_WAIT_EXTERNAL), kBadValue, api);
  EXPECT_EQ(::aclrtStreamWaitEventWithFlag(stream, usual, 0, ACL_EVENT_WAIT_DEFAULT), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

// Producer and consumer streams driven by threads of their own; every hand-over goes through an event.
TEST_F(EventWait, R170_R18_ManyThreads) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      {
        Stream producer, consumer;
        const Device from{256}, to{256};
        const Event full{all_kinds()[t % 3], ACL_EVENT_SYNC}, read{Kind::ex};
        for (int round = 1; round <= 50; ++round) {
          EXPECT_EQ(::aclrtStreamWaitEvent(producer, read), ACL_SUCCESS);
          EXPECT_EQ(::aclrtMemsetAsync(from.get(), 256, round, 256, producer), ACL_SUCCESS);
          EXPECT_EQ(aclrtRecordEvent(full, producer), ACL_SUCCESS);
          EXPECT_EQ(::aclrtStreamWaitEvent(consumer, full), ACL_SUCCESS);
          EXPECT_EQ(::aclrtMemcpyAsync(to.get(), 256, from.get(), 256, ACL_MEMCPY_DEVICE_TO_DEVICE, consumer),
                    ACL_SUCCESS);
          EXPECT_EQ(aclrtRecordEvent(read, consumer), ACL_SUCCESS);
          if (round % 10 == 0) {
            EXPECT_EQ(finish(consumer), ACL_SUCCESS);
            EXPECT_EQ(read_from(to.get(), 256), Bytes(256, static_cast<std::uint8_t>(round)));
          }
        }
      }
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace event_wait_test
