// Events, notifies and count notifies.
#include "acl/acl.h"
#include "api/door.h"
#include "runtime/count_notifies.h"
#include "runtime/event_calls.h"
#include "runtime/shared_event_calls.h"
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

// --- between processes ------------------------------------------------------------------------------

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle) {
  return enter("aclrtIpcGetEventHandle", [&](Process& p) { return give_event_away(p, event, handle); });
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event) {
  return enter("aclrtIpcOpenEventHandle", [&](Process& p) { return open_event(p, handle, event); });
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

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len, uint64_t flags) {
  return enter("aclrtNotifyGetExportKey",
               [&](Process& p) { return export_notify(p, notify, key, len, flags); });
}

aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags) {
  return enter("aclrtNotifyImportByKey", [&](Process& p) { return import_notify(p, notify, key, flags); });
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num) {
  return enter("aclrtNotifySetImportPid", [&](Process& p) { return allow_notify(p, notify, pid, num); });
}

aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid* serverPids, size_t num) {
  return enter("aclrtNotifySetImportPidInterServer",
               [&](Process& p) { return allow_notify_on_servers(p, notify, serverPids, num); });
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
