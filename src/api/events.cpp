// Events, notifies and count notifies.
#include "acl/acl.h"
#include "api/door.h"
#include "runtime/count_notifies.h"
#include "runtime/event_calls.h"
#include "runtime/stream_calls.h"

using namespace belay;

aclError aclrtCreateEvent(aclrtEvent* event) {
  return enter("aclrtCreateEvent", [&](Process& p) {
    constexpr uint32_t kAll = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE;
    return create_event(p, event, Event::Kind::Plain, kAll);
  });
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return enter("aclrtCreateEventWithFlag",
               [&](Process& p) { return create_event(p, event, Event::Kind::Flagged, flag); });
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return enter("aclrtCreateEventExWithFlag",
               [&](Process& p) { return create_event(p, event, Event::Kind::Ex, flag); });
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  return enter("aclrtDestroyEvent", [&](Process& p) { return destroy_event(p, event); });
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  return enter("aclrtRecordEvent", [&](Process& p) { return record_event(p, event, stream); });
}

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
  return enter("aclrtRecordEventWithFlag",
               [&](Process& p) { return record_event_with_flag(p, event, stream, flag); });
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  return enter("aclrtResetEvent", [&](Process& p) { return reset_event(p, event, stream); });
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  return enter("aclrtStreamWaitEvent", [&](Process& p) -> Status {
    if (event == nullptr) return null_pointer("R-169", "event");
    return wait_event(p, stream, event, p.events().wait_timeout.load());
  });
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  return enter("aclrtStreamWaitEventWithTimeout", [&](Process& p) -> Status {
    if (Status here = needs_feature_after_context(p, "R-169", Feature::AllButIpv); !here) return here;
    if (event == nullptr) return rejected("R-169", "event", "NULL", "there is no event", "pass an event");
    if (timeout < 0)
      return rejected("R-173", "timeout", timeout, "it is negative", "pass 0 to wait for ever");
    return wait_event(p, stream, event, static_cast<uint32_t>(timeout));
  });
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout, uint32_t flag) {
  return enter("aclrtStreamWaitEventWithFlag",
               [&](Process& p) { return wait_event_with_flag(p, stream, event, timeout, flag); });
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  return enter("aclrtSetOpWaitTimeout", [&](Process& p) -> Status {
    if (Status ready = needs_context(p, "R-175", Feature::OpWaitTimeout); !ready) return ready;
    p.events().wait_timeout.store(timeout);
    return done();
  });
}

// --- asking and waiting ---------------------------------------------------------------------------

namespace {

// Asks, and stores one of two answers.
template <class Out, class Ask>
Status answer(Process& p, aclrtEvent event, Out* out, const char* rule, Ask&& ask, Out yes, Out no) {
  if (event == nullptr) return null_pointer(rule, "event");
  if (out == nullptr) return null_pointer(rule, "status");
  if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
  ASSIGN_OR_RETURN(const bool answered, ask(p, event));
  return give(out, answered ? yes : no);
}

template <class Out, class Ask>
Status store(Process& p, Out* out, const char* rule, const char* name, Ask&& ask) {
  if (out == nullptr) return null_pointer(rule, name);
  if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
  auto found = ask();
  if (!found) return found.take_refusal();
  return give(out, *found);
}

}  // namespace

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  return enter("aclrtQueryEvent", [&](Process& p) {
    return answer(p, event, status, "R-176", event_query, ACL_EVENT_STATUS_COMPLETE,
                  ACL_EVENT_STATUS_NOT_READY);
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  return enter("aclrtQueryEventStatus", [&](Process& p) {
    return answer(p, event, status, "R-176", event_is_complete, ACL_EVENT_RECORDED_STATUS_COMPLETE,
                  ACL_EVENT_RECORDED_STATUS_NOT_READY);
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  return enter("aclrtQueryEventWaitStatus", [&](Process& p) {
    return answer(p, event, status, "R-176", event_waits_are_over, ACL_EVENT_WAIT_STATUS_COMPLETE,
                  ACL_EVENT_WAIT_STATUS_NOT_READY);
  });
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  return enter("aclrtSynchronizeEvent", [&](Process& p) -> Status {
    if (event == nullptr) return null_pointer("R-180", "event");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    return synchronize_event(p, event, -1, "R-180");
  });
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  return enter("aclrtSynchronizeEventWithTimeout", [&](Process& p) -> Status {
    if (Status fits = check_timeout("R-181", timeout); !fits) return unremembered(std::move(fits));
    if (event == nullptr) return null_pointer("R-180", "event");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    return synchronize_event(p, event, timeout, "R-181");
  });
}

// --- time and numbers -----------------------------------------------------------------------------

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  return enter("aclrtEventElapsedTime", [&](Process& p) -> Status {
    for (const void* each : {static_cast<const void*>(startEvent), static_cast<const void*>(endEvent)}) {
      if (each == nullptr) return null_pointer("R-184", each == startEvent ? "startEvent" : "endEvent");
    }
    return store(p, ms, "R-184", "ms", [&] { return elapsed_ms(p, startEvent, endEvent); });
  });
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  return enter("aclrtEventGetTimestamp", [&](Process& p) -> Status {
    if (event == nullptr) return null_pointer("R-185", "event");
    return store(p, timestamp, "R-185", "timestamp", [&] { return event_time_us(p, event); });
  });
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
  return enter("aclrtGetEventId", [&](Process& p) -> Status {
    if (event == nullptr) return null_pointer("R-186", "event");
    return store(p, eventId, "R-186", "eventId", [&] { return event_number(p, event); });
  });
}

aclError aclrtGetEventAvailNum(uint32_t* eventCount) {
  return enter("aclrtGetEventAvailNum", [&](Process& p) -> Status {
    if (eventCount == nullptr) return null_pointer("R-187", "eventCount");
    if (Status ready = needs_context(p, "R-187", Feature::AllButIpv); !ready) return ready;
    ASSIGN_OR_RETURN(const Context* context, current_context(p, "R-187"));
    return give(eventCount, p.events().numbers[context->device].available());
  });
}

// --- between processes: not emulated (R-188) --------------------------------------------------------

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle) {
  return enter("aclrtIpcGetEventHandle", [&](Process& p) -> Status {
    if (handle == nullptr) return null_pointer("R-188", "handle");
    if (Result<EventRef> known = known_event(p, event, "R-188"); !known) return known.take_refusal();
    return rejected("R-188", "event", hex(event), "it was not created with ACL_EVENT_IPC",
                    "use it inside one process: events are not shared between processes");
  });
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle, aclrtEvent* event) {
  return enter("aclrtIpcOpenEventHandle", [&](Process&) -> Status {
    if (event == nullptr) return null_pointer("R-188", "event");
    return unsupported("R-188", "events are not shared between processes", "use them inside one process");
  });
}

// --- notifies -------------------------------------------------------------------------------------

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag) {
  return enter("aclrtCreateNotify", [&](Process& p) { return create_notify(p, notify, flag); });
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
  return enter("aclrtDestroyNotify", [&](Process& p) { return destroy_notify(p, notify); });
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  return enter("aclrtRecordNotify", [&](Process& p) { return record_notify(p, notify, stream); });
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  return enter("aclrtWaitAndResetNotify",
               [&](Process& p) { return wait_notify(p, notify, stream, timeout); });
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId) {
  return enter("aclrtGetNotifyId", [&](Process& p) { return notify_number(p, notify, notifyId); });
}

aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num) {
  return enter("aclrtNotifyBatchReset", [&](Process& p) { return reset_notifies(p, notifies, num); });
}

namespace {

// not shared between processes.
aclError shared_notify(const char* api, const void* first, const char* first_name, const void* second,
                       const char* second_name) {
  return enter(api, [&](Process&) -> Status {
    if (first == nullptr) return null_pointer("R-211", first_name);
    if (second == nullptr) return null_pointer("R-211", second_name);
    return unsupported("R-211", "notifies are not shared between processes", "use them inside one process");
  });
}

}  // namespace

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t, uint64_t) {
  return shared_notify("aclrtNotifyGetExportKey", notify, "notify", key, "key");
}

aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t) {
  return shared_notify("aclrtNotifyImportByKey", notify, "notify", key, "key");
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t) {
  return shared_notify("aclrtNotifySetImportPid", notify, "notify", pid, "pid");
}

aclError aclrtNotifySetImportPidInterServer(aclrtNotify, aclrtServerPid*, size_t) {
  return enter("aclrtNotifySetImportPidInterServer", [](Process&) -> Status {
    return unsupported("R-211", "notifies are not shared between processes", "use them inside one process");
  });
}

// --- count notifies -------------------------------------------------------------------------------

aclError aclrtCntNotifyCreate(aclrtCntNotify* cntNotify, uint64_t flag) {
  return enter("aclrtCntNotifyCreate", [&](Process& p) { return create_count(p, cntNotify, flag); });
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify) {
  return enter("aclrtCntNotifyDestroy", [&](Process& p) { return destroy_count(p, cntNotify); });
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream, aclrtCntNotifyRecordInfo* info) {
  return enter("aclrtCntNotifyRecord", [&](Process& p) { return record_count(p, cntNotify, stream, info); });
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream,
                                       aclrtCntNotifyWaitInfo* info) {
  return enter("aclrtCntNotifyWaitWithTimeout",
               [&](Process& p) { return wait_count(p, cntNotify, stream, info); });
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream) {
  return enter("aclrtCntNotifyReset", [&](Process& p) { return reset_count(p, cntNotify, stream); });
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t* notifyId) {
  return enter("aclrtCntNotifyGetId", [&](Process& p) { return count_number(p, cntNotify, notifyId); });
}
