// The numbers that events take from the device, and what happens when none is left.
#include <set>

#include "support/event_numbers.h"
#include "support/gates.h"
#include "support/refusals.h"

namespace event_ids_test {

using namespace belay_test;

constexpr std::uint32_t kLimit = 65536;  // of the default product

class EventIds : public OnDevice {};

TEST_F(EventIds, R186_NullsAndStaleEvents) {
  std::uint32_t id = 42;
  Event event{Kind::flagged};
  expect_not_stored(aclrtGetEventId(nullptr, &id), kBadArgument, "aclrtGetEventId");
  expect_not_stored(aclrtGetEventId(event, nullptr), kBadArgument, "aclrtGetEventId");
  expect_not_stored(aclrtGetEventId(sentinel(), nullptr), kBadArgument, "aclrtGetEventId");
  std::vector<void*> wrong = garbage();
  wrong.push_back(event.destroy_now());
  for (void* const handle : wrong) expect_stored(aclrtGetEventId(handle, &id), kStale, "aclrtGetEventId");
  EXPECT_EQ(id, 42U);
}

TEST_F(EventIds, R186_PlainAndExHaveNoneBeforeTheFirstRecord) {
  for (const Kind kind : {Kind::plain, Kind::ex}) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    const Event event{kind};
    std::uint32_t id = 42;
    expect_stored(aclrtGetEventId(event, &id), kInternal, "aclrtGetEventId");
    EXPECT_EQ(id, 42U);
    NotifyGate gate;
    gate.hold(stream);
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    const std::uint32_t taken = event_id(event);
    EXPECT_LT(taken, kLimit);
    gate.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(event_id(event), taken) << "it still answers the last";
  }
}

TEST_F(EventIds, R186_FlaggedEventsHaveOneFromTheBeginning) {
  std::set<std::uint32_t> ids;
  const TakenEvents taken{events_left() - 500};
  for (const aclrtEvent event : taken.events()) {
    const std::uint32_t id = event_id(event);
    EXPECT_LT(id, kLimit);
    EXPECT_TRUE(ids.insert(id).second) << "two live events with number " << id;
  }
  Stream stream;
  const aclrtEvent event = taken.events().front();
  const std::uint32_t before = event_id(event);
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(event_id(event), before) << "a record takes no other";
  without_context([&] { EXPECT_EQ(event_id(event), before); });
}

// Held records have numbers of their own, and none that a flagged event has.
TEST_F(EventIds, R186_EventsInUseHaveDifferentNumbers) {
  Stream stream;
  NotifyGate gate;
  gate.hold(stream);
  std::set<std::uint32_t> ids;
  std::vector<std::unique_ptr<Event>> events;
  for (std::size_t i = 0; i < 99; ++i) {
    events.push_back(std::make_unique<Event>(all_kinds()[i % 3]));
    EXPECT_EQ(aclrtRecordEvent(*events.back(), stream), ACL_SUCCESS);
    ids.insert(event_id(*events.back()));
  }
  EXPECT_EQ(ids.size(), 99U);
  EXPECT_LT(*ids.rbegin(), kLimit);
}

TEST_F(EventIds, R187_NullAndContext) {
  expect_not_stored(aclrtGetEventAvailNum(nullptr), kBadArgument, "aclrtGetEventAvailNum");
  without_context([] {
    std::uint32_t count = 42;
    expect_not_stored(aclrtGetEventAvailNum(nullptr), kBadArgument, "aclrtGetEventAvailNum");
    expect_stored(aclrtGetEventAvailNum(&count), kNoContext, "aclrtGetEventAvailNum");
    EXPECT_EQ(count, 42U);
  });
}

TEST_F(EventIds, R187_TheLimitMinusWhatIsInUse) {
  EXPECT_EQ(events_left(), kLimit);
  {
    const Event sync{Kind::flagged}, all{Kind::flagged, 0xB}, external{Kind::flagged, ACL_EVENT_EXTERNAL};
    EXPECT_EQ(events_left(), kLimit - 3);
    const Event time{Kind::flagged, ACL_EVENT_TIME_LINE};
    const Event progress{Kind::flagged, ACL_EVENT_CAPTURE_STREAM_PROGRESS};
    const Event plain{Kind::plain}, ex{Kind::ex};
    EXPECT_EQ(events_left(), kLimit - 3) << "these take none when they are made";
  }
  EXPECT_EQ(events_left(), kLimit) << "destruction gives it back";
}

TEST_F(EventIds, R187_R160_PlainAndExTakeOneWithARecord) {
  for (const Kind kind : {Kind::plain, Kind::ex}) {
    SCOPED_TRACE(name_of(kind));
    Stream stream;
    NotifyGate gate;
    Event event{kind};
    gate.hold(stream);
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    EXPECT_EQ(events_left(), kLimit - 1);
    gate.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(events_left(), kLimit);
    // Destroyed while its record is queued: the number comes back when that is done.
    NotifyGate again;
    again.hold(stream);
    EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
    event.destroy_now();
    again.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(events_left(), kLimit);
  }
}

TEST_F(EventIds, R187_R160_EveryDeviceHasItsOwn) {
  const Event here{Kind::flagged};
  const Elsewhere other{1};
  other.enter();
  EXPECT_EQ(events_left(), kLimit);
  {
    const Event there{Kind::flagged}, and_there{Kind::flagged};
    EXPECT_EQ(events_left(), kLimit - 2);
  }
  other.leave();
  EXPECT_EQ(events_left(), kLimit - 1);
}

TEST_F(EventIds, R160_R9_FlaggedEventsBeyondTheLimit) {
  TakenEvents all{0};
  EXPECT_EQ(all.events().size(), kLimit);
  EXPECT_EQ(events_left(), 0U);
  for (const std::uint32_t flag : {0x1U, 0x9U, 0xBU, static_cast<std::uint32_t>(ACL_EVENT_EXTERNAL)}) {
    aclrtEvent event = sentinel();
    EXPECT_EQ(::aclrtCreateEventWithFlag(&event, flag), kNoEvents) << flag;
    EXPECT_EQ(event, sentinel());
    EXPECT_EQ(last_error(), kNoEvents);
    const std::string text = recent_message();
    EXPECT_TRUE(mentions(text, "EL0008") && mentions(text, "aclrtCreateEventWithFlag")) << text;
  }
  {
    const Event plain{Kind::plain}, ex{Kind::ex}, time{Kind::flagged, ACL_EVENT_TIME_LINE};
    const Elsewhere other{1};
    other.enter();
    const Event elsewhere{Kind::flagged};
    other.leave();
  }
  all.give_back();
  EXPECT_EQ(events_left(), 1U);
  { const Event one{Kind::flagged}; }
  EXPECT_EQ(events_left(), 1U);
}

TEST_F(EventIds, R160_ARecordWaitsForANumber) {
  Stream stream;
  for (const Kind kind : {Kind::plain, Kind::ex}) {
    SCOPED_TRACE(name_of(kind));
    const Event event{kind};
    TakenEvents all{0};
    Signal over;
    std::thread recording([&] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
      over.give();
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
    EXPECT_FALSE(over.came_soon()) << "no number was free";
    EXPECT_EQ(recorded(event), kind == Kind::ex ? kComplete : kNotReady) << "not recorded yet";
    all.give_back();
    EXPECT_TRUE(over.wait());
    recording.join();
    EXPECT_EQ(::aclrtSynchronizeEvent(event), ACL_SUCCESS);
    EXPECT_EQ(recorded(event), kComplete);
  }
}

// A number that a queued record holds is given back when the record has completed.
TEST_F(EventIds, R160_ARecordWaitsForAnotherRecord) {
  Stream held, stream;
  const Event first{Kind::plain}, second{Kind::plain};
  NotifyGate gate;
  const TakenEvents all{1};
  gate.hold(held);
  EXPECT_EQ(aclrtRecordEvent(first, held), ACL_SUCCESS);
  EXPECT_EQ(events_left(), 0U);
  Signal over;
  std::thread recording([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(second, stream), ACL_SUCCESS);
    over.give();
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_FALSE(over.came_soon());
  gate.open();
  EXPECT_EQ(finish(held), ACL_SUCCESS);
  EXPECT_TRUE(over.wait());
  recording.join();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(recorded(second), kComplete);
}

// One thread alone: its own queued records give the number back while it waits in the call.
TEST_F(EventIds, R160_OneThreadAndOneNumber) {
  Stream stream;
  const TakenEvents all{1};
  const Event event{Kind::plain};
  for (int i = 0; i < 50; ++i) EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(events_left(), 1U);
}

}  // namespace event_ids_test
