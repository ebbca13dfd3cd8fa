#include "runtime/event_calls.h"

#include <utility>

#include "base/words.h"
#include "observe/observe.h"
#include "runtime/shared_event_calls.h"
#include "runtime/stream_calls.h"
#include "runtime/telling.h"

namespace belay {
namespace {

using schedule::Arrival;
using schedule::EventRecord;
using schedule::Lock;

constexpr std::uint32_t kFreelyCombined =
    ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | 0x4U | ACL_EVENT_TIME_LINE;

bool legal_flags(Event::Kind kind, std::uint32_t flags) {
  if (flags != 0 && (flags & ~kFreelyCombined) == 0) return true;
  if (kind == Event::Kind::Ex) return flags == ACL_EVENT_IPC;
  return flags == ACL_EVENT_DEVICE_USE_ONLY || flags == ACL_EVENT_EXTERNAL;
}

// Flagged events that streams wait for have their number from the start.
bool holds_number(const Event& event) {
  return event.kind == Event::Kind::Flagged && (event.synchronises() || event.is_external());
}

Refusal not_from_host(const char* rule, const void* event) {
  return rejected(rule, "event", hex(event), "it was created for use by the device only",
                  "create it without ACL_EVENT_DEVICE_USE_ONLY");
}

Refusal never_recorded(const char* rule) {
  return refuse({ACL_ERROR_RT_INTERNAL_ERROR, rule, "EE1018", "the event was never recorded", "",
                 "call aclrtRecordEvent first"});
}

Refusal no_time(const char* rule, const char* why, const char* solution) {
  return refuse({ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, rule, "EE1018",
                 fmt::format("the event has no time: {}", why), "", solution});
}

Refusal has_none_as_shared(const char* rule, const char* what) {
  return unsupported(rule, fmt::format("an event for several processes has no {}", what),
                     "use an event that was created without ACL_EVENT_IPC");
}

// The first flag that is used with an event stays, even where the call fails.
Status check_sticky_flag(Process& process, Event& event, std::uint32_t flag, const char* rule) {
  const Lock lock = process.scheduler().lock();
  if (!event.sticky_flag) event.sticky_flag = flag;
  if (*event.sticky_flag == flag) return done();
  return rejected(rule, "flag", flag,
                  fmt::format("this event was used with flag {} before", *event.sticky_flag),
                  "use one flag with an event");
}

// EXTERNAL is for a stream that is being captured, which none is.
Refusal outside_capture(const Event& event, const char* rule) {
  if (event.kind != Event::Kind::Ex || event.flags != ACL_EVENT_SYNC) {
    return unsupported(rule,
                       "the external flag is only for events of aclrtCreateEventExWithFlag(ACL_EVENT_SYNC)",
                       "create the event that way, or pass 0");
  }
  return refuse({ACL_ERROR_RT_STREAM_NOT_CAPTURED, rule, "EE1018",
                 "the external flag is for a stream that is being captured, and this one is not", "",
                 "pass flag 0"});
}

}  // namespace

Result<EventRef> known_event(Process& process, aclrtEvent event, const char* rule) {
  if (event == nullptr) return null_pointer(rule, "event");
  EventRef found = process.events().events.find(handle_of(event));
  if (found == nullptr) return stale_handle(rule, "event", handle_of(event));
  return found;
}

Status create_event(Process& process, aclrtEvent* out, Event::Kind kind, std::uint32_t flags) {
  if (out == nullptr) return null_pointer("R-158", "event");
  if (Status here = needs_feature_after_context(process, "R-158", Feature::AllButIpv); !here) return here;
  if (!legal_flags(kind, flags)) {
    return rejected("R-158", "flag", fmt::format("{:#x}", flags),
                    "no such flag, or one that cannot be combined with others",
                    "combine ACL_EVENT_SYNC, ACL_EVENT_CAPTURE_STREAM_PROGRESS and ACL_EVENT_TIME_LINE");
  }
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "R-158"));
  if (flags == ACL_EVENT_IPC) return create_shared_event(process, out, context->device);
  auto event = std::make_shared<Event>(kind, flags, context->device);
  if (holds_number(*event)) {
    event->number = process.events().numbers[event->device].take();
    if (!event->number) {
      return refuse(
          {ACL_ERROR_RT_NO_EVENT_RESOURCE, "R-160", "EL0008",
           fmt::format("all {} events of device {} are in use", process.events().limit, event->device), "",
           "destroy events that are not needed any more"});
    }
  }
  const Handle handle = new_handle();
  process.events().events.add(handle, std::move(event));
  tell_object(observe::What::Created, observe::Object::Event, handle, context->device);
  *out = reinterpret_cast<aclrtEvent>(handle);
  return done();
}

Status destroy_event(Process& process, aclrtEvent handle) {
  if (handle == nullptr) return null_pointer("R-162", "event");
  if (Status here = needs_feature(process, Feature::AllButIpv, "R-266"); !here) return here;
  const EventRef event = process.events().events.take(handle_of(handle));
  if (event == nullptr) return stale_handle("R-162", "event", handle_of(handle));
  tell_object(observe::What::Destroyed, observe::Object::Event, handle_of(handle), event->device);
  if (event->shared != nullptr) end_shared_event(process, *event);
  if (holds_number(*event)) {
    process.events().numbers[event->device].give(*event->number);
    Lock lock = process.scheduler().lock();
    process.scheduler().changed(lock);  // a record may wait for a number
  }
  return done();
}

Status record_event(Process& process, aclrtEvent handle, aclrtStream stream_handle) {
  if (handle == nullptr) return null_pointer("R-164", "event");
  if (Status here = needs_feature_after_context(process, "R-164", Feature::AllButIpv); !here) return here;
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, "R-164"));
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, stream_handle, "R-164"));
  if (event->only_on_device()) return not_from_host("R-161", handle);

  schedule::Scheduler& scheduler = process.scheduler();
  schedule::RecordTask::Left give_back;
  std::optional<std::uint32_t> number;
  if (event->kind !=
      Event::Kind::Flagged) {  // held until the record is done; where none is free, that is waited for
    Numbers& numbers = process.events().numbers[stream->device()];
    number = numbers.take();
    if (!number) {
      Lock lock = scheduler.lock();
      while (!(number = numbers.take())) scheduler.wait_for_change(lock, stream.get(), {});
    }
    give_back = [&numbers, taken = *number](Lock&) { numbers.give(taken); };
  }
  if (event->shared != nullptr) return record_shared_event(process, *event, handle, stream, give_back);
  std::shared_ptr<EventRecord> record;
  std::shared_ptr<EventRecord> before;
  bool promised = false;
  bool was_reset = false;
  {
    const Lock lock = scheduler.lock();
    record = std::exchange(event->promised, nullptr);
    promised = record != nullptr;
    if (!promised) record = std::make_shared<EventRecord>(handle_of(handle));
    before = event->latest;
    was_reset = event->reset_called;
    record->stream = stream;
    event->latest = record;
    event->reset_called = false;
    if (number) event->number = number;
  }
  Status queued =
      submit(process, *stream, std::make_unique<schedule::RecordTask>(record, give_back), &record->position);
  if (!queued) {
    Lock lock = scheduler.lock();
    if (event->latest == record) {  // as if the call had not been
      event->latest = before;
      event->reset_called = was_reset;
      if (promised) {
        record->stream.reset();
        event->promised = record;
      }
    }
    if (give_back) give_back(lock);
  }
  return queued;
}

Status record_event_with_flag(Process& process, aclrtEvent handle, aclrtStream stream, std::uint32_t flag) {
  if (handle == nullptr) return null_pointer("R-164", "event");
  if (flag != ACL_EVENT_RECORD_DEFAULT && flag != ACL_EVENT_RECORD_EXTERNAL)
    return bad_value("R-167", "flag", flag, "0 or 1");
  if (Status here = needs_feature_after_context(process, "R-164", Feature::StreamControl); !here) return here;
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, "R-164"));
  ASSIGN_OR_RETURN(const StreamRef own, own_stream(process, stream, "R-164"));
  if (Status sticks = check_sticky_flag(process, *event, flag, "R-167"); !sticks) return sticks;
  if (flag == ACL_EVENT_RECORD_EXTERNAL) return outside_capture(*event, "R-167");
  return record_event(process, handle, stream);
}

Status reset_event(Process& process, aclrtEvent handle, aclrtStream stream_handle) {
  if (handle == nullptr) return null_pointer("R-168", "event");
  if (Status here = needs_feature_after_context(process, "R-168", Feature::AllButIpv); !here) return here;
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, "R-168"));
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, stream_handle, "R-168"));
  if (event->only_on_device()) return not_from_host("R-161", handle);
  if (event->kind == Event::Kind::Ex)
    return unsupported("R-168", "events of aclrtCreateEventExWithFlag need no reset", "record it again");
  if (!event->synchronises())
    return unsupported("R-168", "the event was created without ACL_EVENT_SYNC",
                       "create it with ACL_EVENT_SYNC");
  if (event->kind == Event::Kind::Plain) {
    observe::note("R-168", [] {
      return std::string{
          "the documents leave open what aclrtResetEvent does to an event of aclrtCreateEvent"};
    });
  }
  std::shared_ptr<EventRecord> seen;
  {
    const Lock lock = process.scheduler().lock();
    seen = event->latest;
    event->reset_called = true;
  }
  // Only what was recorded before this call is undone, even if the task runs after the next record.
  auto undo = [event, seen](Lock&) {
    if (event->latest == seen) event->latest = nullptr;
  };
  schedule::Description what{observe::Operation::ResetEvent,
                             0,
                             {.record = seen ? seen->serial : 0, .object = handle_of(handle)},
                             {}};
  Status queued =
      submit(process, *stream, std::make_unique<schedule::MarkTask>(std::move(undo), std::move(what)));
  if (!queued) {
    const Lock lock = process.scheduler().lock();
    if (event->latest == seen) event->reset_called = false;
  }
  return queued;
}

Status wait_event(Process& process, aclrtStream stream_handle, aclrtEvent handle, std::uint32_t seconds) {
  if (Status here = needs_feature_after_context(process, "R-169", Feature::AllButIpv); !here) return here;
  ASSIGN_OR_RETURN(const EventRef found, known_event(process, handle, "R-169"));
  const EventRef event = found;
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, stream_handle, "R-169"));
  if (event->only_on_device()) return not_from_host("R-161", handle);
  if (!event->synchronises())
    return unsupported("R-169", "the event was created without ACL_EVENT_SYNC",
                       "create it with ACL_EVENT_SYNC");
  if (event->shared != nullptr) return wait_shared_event(process, *stream, event, seconds);
  std::shared_ptr<EventRecord> record;
  {
    const Lock lock = process.scheduler().lock();
    const bool recorded = event->latest != nullptr && !event->reset_called;
    if (recorded) {
      record = event->latest;
    } else if (event->kind == Event::Kind::Ex) {
      return done();
    } else if (event->kind == Event::Kind::Plain) {
      return refuse({ACL_ERROR_RT_PARAM_INVALID, "R-171", "EE1018", "the event was never recorded", "",
                     "call aclrtRecordEvent first"});
    } else {
      if (event->promised == nullptr) event->promised = std::make_shared<EventRecord>(handle_of(handle));
      record = event->promised;
    }
    ++event->waits;
  }
  auto passed = [event](Lock&) { --event->waits; };
  Status queued = submit(process, *stream, std::make_unique<schedule::AwaitTask>(record, seconds, passed));
  if (!queued) {
    const Lock lock = process.scheduler().lock();
    --event->waits;
  }
  return queued;
}

Status wait_event_with_flag(Process& process, aclrtStream stream, aclrtEvent handle, std::uint32_t seconds,
                            std::uint32_t flag) {
  if (handle == nullptr) return null_pointer("R-169", "event");
  if (flag != ACL_EVENT_WAIT_DEFAULT && flag != ACL_EVENT_WAIT_EXTERNAL)
    return bad_value("R-174", "flag", flag, "0 or 1");
  if (flag == ACL_EVENT_WAIT_EXTERNAL && seconds != 0)
    return bad_value("R-174", "timeout", seconds, "0 with the external flag");
  if (Status here = needs_feature_after_context(process, "R-169", Feature::StreamControl); !here) return here;
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, "R-169"));
  ASSIGN_OR_RETURN(const StreamRef own, own_stream(process, stream, "R-169"));
  if (Status sticks = check_sticky_flag(process, *event, flag, "R-174"); !sticks) return sticks;
  if (flag == ACL_EVENT_WAIT_EXTERNAL) return outside_capture(*event, "R-174");
  return wait_event(process, stream, handle, seconds);
}

// --- asking and waiting ---------------------------------------------------------------------------

// Asking lets the work that is asked for move on a little, where nothing else would (Scheduler::asked).
void let_move(Process& process, const EventRecord* record, Lock& lock) {
  if (record == nullptr || record->complete) return;
  if (const StreamRef stream = record->stream.lock()) process.scheduler().asked(*stream, lock);
}

bool seen_complete(const EventRecord& record) {
  const StreamRef stream = record.complete && !record.dropped ? record.stream.lock() : nullptr;
  if (stream != nullptr) tell_waited(*stream, record.position, record.serial);
  return record.complete;
}

Result<bool> event_is_complete(Process& process, aclrtEvent handle) {
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, "R-176"));
  if (event->shared != nullptr) return shared_event_is_complete(process, *event);
  Lock lock = process.scheduler().lock();
  let_move(process, event->latest.get(), lock);
  if (event->latest == nullptr) return event->kind == Event::Kind::Ex;
  return seen_complete(*event->latest);
}

Result<bool> event_query(Process& process, aclrtEvent handle) {
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, "R-176"));
  if (event->kind == Event::Kind::Ex || event->is_external())
    return unsupported("R-178", "aclrtQueryEvent does not take this kind of event",
                       "call aclrtQueryEventStatus");
  Lock lock = process.scheduler().lock();
  let_move(process, event->latest.get(), lock);
  return event->latest == nullptr || seen_complete(*event->latest);
}

Result<bool> event_waits_are_over(Process& process, aclrtEvent handle) {
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, "R-176"));
  if (event->kind == Event::Kind::Ex)
    return unsupported("R-179", "aclrtQueryEventWaitStatus does not take this kind of event",
                       "call aclrtQueryEventStatus");
  Lock lock = process.scheduler().lock();
  let_move(process, event->latest.get(), lock);
  if (event->waits != 0) process.scheduler().asked_for_any(lock);
  return event->waits == 0;
}

Status synchronize_event(Process& process, aclrtEvent handle, std::int32_t timeout, const char* rule) {
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, rule));
  if (event->shared != nullptr) return synchronize_shared_event(process, *event, timeout, rule);
  Lock lock = process.scheduler().lock();
  if (event->latest == nullptr) return done();
  return synchronize_record(process, event->latest, timeout, rule, lock);
}

Refusal event_came_late(const char* rule, std::int32_t timeout) {
  return refuse({ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, rule, "EE1002",
                 fmt::format("the event was not complete after {} ms", timeout), "",
                 "wait again, or find out what its stream waits for"});
}

Status synchronize_record(Process& process, const std::shared_ptr<EventRecord>& record, std::int32_t timeout,
                          const char* rule, Lock& lock) {
  schedule::Scheduler& scheduler = process.scheduler();
  const StreamRef stream = record->stream.lock();
  if (stream == nullptr) return done();
  const Arrival arrival = scheduler.wait(lock, *stream, record->position, deadline_in(timeout));
  switch (arrival) {
    case Arrival::TimedOut:
      return event_came_late(rule, timeout);
    case Arrival::Reached:
      if (!record->dropped) tell_waited(*stream, record->position, record->serial);
      return told(scheduler.take_error(*stream, record->position, lock));
    case Arrival::Ended:
      return done();  // destroyed by force: what it stood for counts as complete
    default:
      return arrived(scheduler, *stream, record->position, arrival, rule, timeout, lock);
  }
}

// --- time and numbers -----------------------------------------------------------------------------

namespace {

Result<std::int64_t> time_of(const Event& event, const char* rule) {  // with the lock
  if (!event.latest->complete)
    return no_time(rule, "the work before it is not done", "synchronise the event first");
  if (!event.keeps_time())
    return no_time(rule, "it was created without ACL_EVENT_TIME_LINE", "create it with that flag");
  return event.latest->time_ns;
}

}  // namespace

Result<float> elapsed_ms(Process& process, aclrtEvent start_handle, aclrtEvent end_handle) {
  if (start_handle == nullptr) return null_pointer("R-184", "startEvent");
  if (end_handle == nullptr) return null_pointer("R-184", "endEvent");
  ASSIGN_OR_RETURN(const EventRef start, known_event(process, start_handle, "R-184"));
  ASSIGN_OR_RETURN(const EventRef end, known_event(process, end_handle, "R-184"));
  for (const EventRef& each : {start, end}) {
    if (each->shared != nullptr) return has_none_as_shared("R-184", "time");
  }
  const Lock lock = process.scheduler().lock();
  if (start->latest == nullptr || end->latest == nullptr) return never_recorded("R-184");
  ASSIGN_OR_RETURN(const std::int64_t from, time_of(*start, "R-184"));
  ASSIGN_OR_RETURN(const std::int64_t to, time_of(*end, "R-184"));
  return static_cast<float>(static_cast<double>(to - from) / 1e6);
}

Result<std::uint64_t> event_time_us(Process& process, aclrtEvent handle) {
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, "R-185"));
  if (event->shared != nullptr) {
    if (!shared_event_is_recorded(process, *event)) return never_recorded("R-185");
    return no_time("R-185", "it is one for several processes", "use an event with ACL_EVENT_TIME_LINE");
  }
  const Lock lock = process.scheduler().lock();
  if (event->latest == nullptr) return never_recorded("R-185");
  ASSIGN_OR_RETURN(const std::int64_t time, time_of(*event, "R-185"));
  return static_cast<std::uint64_t>(time) / 1000;
}

Result<std::uint32_t> event_number(Process& process, aclrtEvent handle) {
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, "R-186"));
  if (event->shared != nullptr) return has_none_as_shared("R-186", "number");
  const Lock lock = process.scheduler().lock();
  if (!event->number) {
    return refuse({ACL_ERROR_RT_INTERNAL_ERROR, "R-186", "EE1018", "the event has no hardware number yet", "",
                   "record it first"});
  }
  return *event->number;
}

// --- notifies -------------------------------------------------------------------------------------

Result<NotifyRef> known_notify(Process& process, aclrtNotify notify, const char* rule) {
  if (notify == nullptr) return null_pointer(rule, "notify");
  NotifyRef found = process.events().notifies.find(handle_of(notify));
  if (found == nullptr) return stale_handle(rule, "notify", handle_of(notify));
  return found;
}

Status create_notify(Process& process, aclrtNotify* out, std::uint64_t flags) {
  if (out == nullptr) return null_pointer("R-206", "notify");
  if (Status here = needs_feature_after_context(process, "R-206", Feature::AllButIpv); !here) return here;
  if (flags > ACL_NOTIFY_DEVICE_USE_ONLY)
    return rejected("R-206", "flag", flags, "no such flag",
                    "pass ACL_NOTIFY_DEFAULT or ACL_NOTIFY_DEVICE_USE_ONLY");
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "R-206"));
  Events& events = process.events();
  const std::optional<std::uint32_t> number = events.notify_numbers[context->device].take();
  if (!number) {
    return refuse(
        {ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "R-206", "EL0010",
         fmt::format("all {} notifies of device {} are in use", events.notify_limit, context->device), "",
         "destroy notifies that are not needed any more"});
  }
  const Handle handle = new_handle();
  auto notify = std::make_shared<Notify>(handle, context->device, *number);
  notify->state->notify = handle;
  events.notifies.add(handle, std::move(notify));
  tell_object(observe::What::Created, observe::Object::Notify, handle, context->device);
  *out = reinterpret_cast<aclrtNotify>(handle);
  return done();
}

Status destroy_notify(Process& process, aclrtNotify handle) {
  if (handle == nullptr) return null_pointer("R-207", "notify");
  if (Status here = needs_feature_after_context(process, "R-207", Feature::AllButIpv); !here) return here;
  if (Result<NotifyRef> known = known_notify(process, handle, "R-207"); !known) return known.take_refusal();
  if (process.current() == nullptr) return no_context("R-207");
  const NotifyRef notify = process.events().notifies.take(handle_of(handle));
  if (notify == nullptr) return stale_handle("R-207", "notify", handle_of(handle));
  if (!notify->opened) process.events().notify_numbers[notify->device].give(notify->number);
  end_shared_notify(process, *notify);
  tell_object(observe::What::Destroyed, observe::Object::Notify, notify->handle, notify->device);
  return done();
}

Status record_notify(Process& process, aclrtNotify handle, aclrtStream stream_handle) {
  if (handle == nullptr) return null_pointer("R-207", "notify");
  if (Status here = needs_feature_after_context(process, "R-207", Feature::AllButIpv); !here) return here;
  ASSIGN_OR_RETURN(const NotifyRef notify, known_notify(process, handle, "R-207"));
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, stream_handle, "R-207"));
  Status queued = submit(process, *stream, std::make_unique<schedule::SetNotifyTask>(notify->state));
  if (queued) demanded_elsewhere(process, *notify);
  return queued;
}

Status wait_notify(Process& process, aclrtNotify handle, aclrtStream stream_handle, std::uint32_t seconds) {
  if (handle == nullptr) return null_pointer("R-207", "notify");
  if (Status here = needs_feature_after_context(process, "R-207", Feature::AllButIpv); !here) return here;
  ASSIGN_OR_RETURN(const NotifyRef notify, known_notify(process, handle, "R-207"));
  ASSIGN_OR_RETURN(const StreamRef stream, own_stream(process, stream_handle, "R-207"));
  const std::uint32_t limit = seconds == UINT32_MAX ? 0 : seconds;
  if (Status room = room_to_wait(process, *notify); !room) return room;
  return submit(process, *stream, std::make_unique<schedule::AwaitNotifyTask>(notify->state, limit));
}

Status notify_number(Process& process, aclrtNotify handle, std::uint32_t* number) {
  if (handle == nullptr) return null_pointer("R-210", "notify");
  if (number == nullptr) return null_pointer("R-210", "notifyId");
  if (Status here = needs_feature_after_context(process, "R-210", Feature::AllButIpv); !here) return here;
  ASSIGN_OR_RETURN(const NotifyRef notify, known_notify(process, handle, "R-207"));
  if (process.current() == nullptr) return no_context("R-207");
  *number = notify->number;
  return done();
}

Status reset_notifies(Process& process, aclrtNotify* notifies, std::size_t count) {
  if (notifies == nullptr) return null_pointer("R-210", "notifies");
  if (Status here = needs_feature_after_context(process, "R-210", Feature::StreamControl); !here) return here;
  if (count == 0) return rejected("R-210", "num", count, "there is nothing to reset", "pass at least 1");
  std::vector<NotifyRef> found;
  for (std::size_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(const NotifyRef notify, known_notify(process, notifies[i], "R-207"));
    found.push_back(notify);
  }
  if (process.current() == nullptr) return no_context("R-210");
  const Lock lock = process.scheduler().lock();
  for (const NotifyRef& each : found) each->state->put(false);
  return done();
}

}  // namespace belay
