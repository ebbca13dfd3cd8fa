// acl.rt: events.
#include "call.h"

namespace belay::python {
namespace {

// This one lets the interpreter's own message through (Y-27).
PyObject* get_event_id(PyObject*, PyObject* const* given, Py_ssize_t count) {
  const Owned arguments = as_tuple(given, count);
  unsigned long long event = 0;
  if (!arguments || PyArg_ParseTuple(arguments.get(), "K", &event) == 0) return nullptr;
  std::uint32_t id = 0;
  const aclError code = aclrtGetEventId(reinterpret_cast<aclrtEvent>(event), &id);
  TupleMaker results{2};
  results.add(to_python(id));
  results.add(to_python(code));
  return results.take();
}

}  // namespace

Functions events() {
  return {
      row<"acl.rt.create_event", aclrtCreateEvent, kHeld, Out<void*>>(R"(() -> (event: int, ret: int)

Makes an event: a point in the order of a stream, to wait for and to measure time with. [Y-81])"),
      row<"acl.rt.create_event_with_flag", aclrtCreateEventWithFlag, kHeld, Out<void*>, U32>(
          R"((flag: int) -> (event: int, ret: int)

With flags: 1 sync, 2 capture progress, 8 time line. [Y-81])"),
      row<"acl.rt.create_event_ex_with_flag", aclrtCreateEventExWithFlag, kHeld, Out<void*>, U32>(
          R"((flag: int) -> (event: int, ret: int)

With flags, for an event that may be recorded again and again. [Y-81])"),
      row<"acl.rt.destroy_event", aclrtDestroyEvent, kReleased, Ptr>(R"((event: int) -> ret: int

Ends an event. [Y-82])"),
      row<"acl.rt.record_event", aclrtRecordEvent, kReleased, Ptr, Ptr>(
          R"((event: int, stream: int) -> ret: int

Records the event on a stream: it is complete when all work before it is. The event comes first. [Y-83])"),
      row<"acl.rt.reset_event", aclrtResetEvent, kReleased, Ptr, Ptr>(R"((event: int, stream: int) -> ret: int

Queues a reset: the event is not complete any more; for events with the sync flag. [Y-84])"),
      row<"acl.rt.stream_wait_event", aclrtStreamWaitEvent, kReleased, Ptr, Ptr>(
          R"((stream: int, event: int) -> ret: int

Has the stream wait for the event. Here the stream comes first. [Y-85])"),
      row<"acl.rt.query_event", aclrtQueryEvent, kReleased, Ptr, Out<aclrtEventStatus>>(
          R"((event: int) -> (status: int, ret: int)

0 complete, 1 not ready. [Y-86])"),
      row<"acl.rt.query_event_status", aclrtQueryEventStatus, kReleased, Ptr, Out<aclrtEventRecordedStatus>>(
          R"((event: int) -> (status: int, ret: int)

The other way round: 0 not ready, 1 complete. [Y-86])"),
      row<"acl.rt.query_event_wait_status", aclrtQueryEventWaitStatus, kReleased, Ptr,
          Out<aclrtEventWaitStatus>>(
          R"((event: int) -> (status: int, ret: int)

Whether all waits for the event are over: 0 complete, 1 not ready. [Y-86])"),
      row<"acl.rt.synchronize_event", aclrtSynchronizeEvent, kReleased, Ptr>(R"((event: int) -> ret: int

Waits until the event is complete. [Y-87])"),
      row<"acl.rt.synchronize_event_with_timeout", aclrtSynchronizeEventWithTimeout, kReleased, Ptr, I32>(
          R"((event: int, ms: int) -> ret: int

The same for at most `ms` milliseconds, -1 for ever. [Y-87])"),
      row<"acl.rt.event_elapsed_time", aclrtEventElapsedTime, kHeld, Out<float>, Ptr, Ptr>(
          R"((start: int, end: int) -> (ms: float, ret: int)

Milliseconds between two recorded events. [Y-88])"),
      row<"acl.rt.event_get_timestamp", aclrtEventGetTimestamp, kHeld, Ptr, Out<std::uint64_t>>(
          R"((event: int) -> (stamp: int, ret: int)

When the event was reached, in microseconds. [Y-89])"),
      {"acl.rt.get_event_id", guarded<get_event_id>, R"((event: int) -> (id: int, ret: int)

The number of the event. [Y-89, Y-27])"},
      row<"acl.rt.get_event_avail_num", aclrtGetEventAvailNum, kHeld, Out<std::uint32_t>>(
          R"(() -> (n: int, ret: int)

How many events can still be made. [Y-89])"),
      row<"acl.rt.set_op_wait_timeout", aclrtSetOpWaitTimeout, kHeld, U32>(R"((seconds: int) -> ret: int

How long a stream waits for an event at most; 0 for ever. [Y-89])"),
  };
}

}  // namespace belay::python
