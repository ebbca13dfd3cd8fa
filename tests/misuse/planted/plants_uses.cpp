// Memory and handles that are used after their end, or that never were.
#include "plants.h"

namespace planted {
namespace {

constexpr std::size_t kBytes = 64;  // of each use

// Where a block, or other memory, was that is given back by now.
char* gone(RandomProgram& p, Place place = Place::Device) {
  Area& area = p.idle(place, kBytes);
  const std::size_t device = p.device();
  char* const at = area.at;
  const std::size_t start = p.pick(area.bytes - kBytes + 1) / 8 * 8;
  p.give_back(area);
  p.use(device);
  go_on(p);
  return at + start;
}

void copy_to(RandomProgram& p) {
  char* const at = gone(p);
  PLANTED(aclrtMemcpy, at, kBytes, p.scratch(kBytes), kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
}
void copy_from(RandomProgram& p) {
  char* const at = gone(p);
  PLANTED(aclrtMemcpy, p.scratch(kBytes), kBytes, at, kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
}
void copy_on_device(RandomProgram& p) {
  char* const at = gone(p);
  char* const other = p.make(Place::Device, kBytes).at;
  const bool to = p.pick(2) == 0;
  PLANTED(aclrtMemcpy, to ? at : other, kBytes, to ? other : at, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE);
}
void copy_to_managed(RandomProgram& p) {
  char* const at = gone(p, Place::Managed);
  PLANTED(aclrtMemcpy, at, kBytes, p.scratch(kBytes), kBytes, ACL_MEMCPY_DEFAULT);
}
void fill(RandomProgram& p) {
  char* const at = gone(p);
  PLANTED(aclrtMemset, at, kBytes, 1, kBytes);
}
void fill_words(RandomProgram& p) {
  char* const at = gone(p);
  PLANTED(aclrtMemsetD32, at, kBytes, 1, kBytes / 4);
}
void rows(RandomProgram& p) {
  char* const at = gone(p);
  PLANTED(aclrtMemcpy2d, at, 16, p.scratch(kBytes), 8, 8, 4, ACL_MEMCPY_HOST_TO_DEVICE);
}

struct Batch {
  Batch(RandomProgram& p, char* gone, bool down)
      : host{p.idle(Place::Pinned, 3 * kBytes).at},
        block{p.make(Place::Device, 2 * kBytes).at},
        on_device{block, gone, block + kBytes},
        on_host{host, host + kBytes, host + 2 * kBytes} {
    MUST(aclrtMemset(block, 2 * kBytes, 0, 2 * kBytes));
    const aclrtMemLocation device{static_cast<std::uint32_t>(p.device()), ACL_MEM_LOCATION_TYPE_DEVICE};
    const aclrtMemLocation nowhere{0, ACL_MEM_LOCATION_TYPE_HOST};
    way.dstLoc = down ? nowhere : device;
    way.srcLoc = down ? device : nowhere;
    to = down ? on_host : on_device;
    from = down ? on_device : on_host;
  }
  char *host, *block;
  void *on_device[3], *on_host[3];
  void **to, **from;
  std::size_t bytes[3]{kBytes, kBytes, kBytes}, first = 0, failed = 0;
  aclrtMemcpyBatchAttr way{};
};
void batch(RandomProgram& p) {
  Batch b{p, gone(p), p.pick(2) == 0};
  PLANTED(aclrtMemcpyBatch, b.to, b.bytes, b.from, b.bytes, 3, &b.way, &b.first, 1, &b.failed);
}
void queued_batch(RandomProgram& p) {
  Batch b{p, gone(p), p.pick(2) == 0};
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtMemcpyBatchAsync, b.to, b.bytes, b.from, b.bytes, 3, &b.way, &b.first, 1, &b.failed, stream);
}

void queued_copy(RandomProgram& p) {
  char *const at = gone(p), *const host = p.idle(Place::Pinned, kBytes).at;
  const bool to = p.pick(2) == 0;
  aclrtStream stream = p.any_stream().handle;
  const aclrtMemcpyKind kind = to ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  PLANTED(aclrtMemcpyAsync, to ? at : host, kBytes, to ? host : at, kBytes, kind, stream);
}
void queued_rows(RandomProgram& p) {
  char *const at = gone(p), *const host = p.idle(Place::Pinned, kBytes).at;
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtMemcpy2dAsync, at, 16, host, 8, 8, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream);
}
void queued_fill(RandomProgram& p) {
  char* const at = gone(p);
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtMemsetAsync, at, kBytes, 1, kBytes, stream);
}
void queued_fill_of_words(RandomProgram& p) {
  char* const at = gone(p);
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtMemsetD32Async, at, kBytes, 1, kBytes / 4, stream);
}
void word_written(RandomProgram& p) {
  char* const at = gone(p);
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtValueWrite, at, 1, 0, stream);
}
void word_awaited(RandomProgram& p) {
  char* const at = gone(p);
  aclrtStream stream = p.any_stream().handle;
  PLANTED(aclrtValueWait, at, 0, ACL_STREAM_WAIT_VALUE_GEQ, stream);
}
void prefetch(RandomProgram& p) {
  char* const at = gone(p);
  Stream& stream = p.any_stream();
  MUST(PLANTED(aclrtCmoAsync, at, kBytes, ACL_RT_CMO_TYPE_PREFETCH, stream.handle));
  p.submitted(stream, {}, {});
}
// The address is found in memory when the task runs, so the wait tells.
void descriptor(RandomProgram& p) {
  char* const to = p.make(Place::Device, kBytes).at;
  Area& from = p.make(Place::Device, kBytes);
  std::size_t bytes = 0;
  MUST(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &bytes));
  char* const what = p.make(Place::Device, bytes).at;
  MUST(aclrtSetMemcpyDesc(what, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, from.at, to, kBytes, nullptr));
  p.give_back(from);
  Stream& stream = p.make_stream();
  MUST(aclrtMemcpyAsyncWithDesc(what, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream.handle));
  PLANTED(aclrtSynchronizeStream, stream.handle);
  may_fail(aclrtDestroyStream(stream.handle));
  p.forget(stream);
}
void attributes(RandomProgram& p) {
  char* const at = gone(p);
  aclrtPtrAttributes found{};
  PLANTED(aclrtPointerGetAttributes, at, &found);
}
void range(RandomProgram& p) {
  char* const at = gone(p);
  void* start = nullptr;
  std::size_t bytes = 0;
  PLANTED(aclrtMemGetAddressRange, at, &start, &bytes);
}

void nothing_there(RandomProgram& p) {
  char* const at = p.idle(Place::Device).at + (std::size_t{64} << 30);
  PLANTED(aclrtMemset, at, kBytes, 1, kBytes);
}

// --- handles --------------------------------------------------------------------------------------------

aclrtStream ended_stream(RandomProgram& p) {
  Stream& stream = p.make_stream();
  aclrtStream handle = stream.handle;
  MUST(aclrtDestroyStream(handle));
  p.forget(stream);
  go_on(p);
  return handle;
}
aclrtEvent ended_event(RandomProgram& p) {
  aclrtEvent event = nullptr;
  MUST(aclrtCreateEvent(&event));
  if (p.pick(2) == 0 && p.has(kStreams)) {
    Stream& stream = p.any_stream();
    MUST(aclrtRecordEvent(event, stream.handle));
    p.submitted(stream, {}, {});
  }
  MUST(aclrtDestroyEvent(event));
  go_on(p);
  return event;
}
aclrtNotify ended_notify(RandomProgram& p) {
  aclrtNotify notify = nullptr;
  MUST(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  MUST(aclrtDestroyNotify(notify));
  go_on(p);
  return notify;
}
aclrtContext ended_context(RandomProgram& p) {
  aclrtContext context = nullptr;
  MUST(aclrtCreateContext(&context, static_cast<std::int32_t>(p.device())));
  MUST(aclrtDestroyContext(context));
  p.use(p.device());
  go_on(p);
  return context;
}

void stream_awaited(RandomProgram& p) {
  aclrtStream stream = ended_stream(p);
  PLANTED(aclrtSynchronizeStream, stream);
}
void stream_asked(RandomProgram& p) {
  aclrtStream stream = ended_stream(p);
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  PLANTED(aclrtStreamQuery, stream, &status);
}
void stream_twice(RandomProgram& p) {
  aclrtStream stream = ended_stream(p);
  PLANTED(aclrtDestroyStream, stream);
}
void copy_on_stream(RandomProgram& p) {
  aclrtStream stream = ended_stream(p);
  char *const host = p.idle(Place::Pinned, kBytes).at, *const block = p.idle(Place::Device, kBytes).at;
  PLANTED(aclrtMemcpyAsync, block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream);
}
void event_recorded(RandomProgram& p) {
  aclrtEvent event = ended_event(p);
  PLANTED(aclrtRecordEvent, event, p.any_stream().handle);
}
void event_awaited(RandomProgram& p) {
  aclrtEvent event = ended_event(p);
  PLANTED(aclrtSynchronizeEvent, event);
}
void event_awaited_by_a_stream(RandomProgram& p) {
  aclrtEvent event = ended_event(p);
  PLANTED(aclrtStreamWaitEvent, p.any_stream().handle, event);
}
void event_twice(RandomProgram& p) {
  aclrtEvent event = ended_event(p);
  PLANTED(aclrtDestroyEvent, event);
}
void notify_recorded(RandomProgram& p) {
  aclrtNotify notify = ended_notify(p);
  PLANTED(aclrtRecordNotify, notify, p.any_stream().handle);
}
void notify_twice(RandomProgram& p) {
  aclrtNotify notify = ended_notify(p);
  PLANTED(aclrtDestroyNotify, notify);
}
void context_made_current(RandomProgram& p) {
  aclrtContext context = ended_context(p);
  PLANTED(aclrtSetCurrentContext, context);
}
void context_twice(RandomProgram& p) {
  aclrtContext context = ended_context(p);
  PLANTED(aclrtDestroyContext, context);
}
void data_buffer_twice(RandomProgram& p) {
  aclDataBuffer* buffer = aclCreateDataBuffer(p.scratch(kBytes), kBytes);
  MUST(aclDestroyDataBuffer(buffer));
  PLANTED(aclDestroyDataBuffer, buffer);
}
void unknown_stream(RandomProgram& p) {
  PLANTED(aclrtSynchronizeStream, reinterpret_cast<aclrtStream>(0x5eed0 + p.pick(1000)));
}
void unknown_event(RandomProgram& p) {
  PLANTED(aclrtSynchronizeEvent, reinterpret_cast<aclrtEvent>(0x5eed0 + p.pick(1000)));
}

}  // namespace

std::vector<Kind> uses_after_end() {
  return {
      {"copy to a freed block", "use-after-free", 0, copy_to},
      {"copy from a freed block", "use-after-free", 0, copy_from},
      {"copy between a freed block and another", "use-after-free", 0, copy_on_device},
      {"copy to freed managed memory", "use-after-free", 0, copy_to_managed},
      {"fill of a freed block", "use-after-free", 0, fill},
      {"fill of words in a freed block", "use-after-free", 0, fill_words},
      {"rows to a freed block", "use-after-free", 0, rows},
      {"batch with a freed block", "use-after-free", 0, batch},
      {"queued batch with a freed block", "use-after-free", kStreams, queued_batch},
      {"queued copy with a freed block", "use-after-free", kStreams, queued_copy},
      {"queued rows to a freed block", "use-after-free", kStreams, queued_rows},
      {"queued fill of a freed block", "use-after-free", kStreams, queued_fill},
      {"queued fill of words in a freed block", "use-after-free", kStreams, queued_fill_of_words},
      {"word written to a freed block", "use-after-free", kStreams, word_written},
      {"word awaited in a freed block", "use-after-free", kStreams, word_awaited},
      {"prefetch of a freed block", "use-after-free", kStreams, prefetch},
      {"descriptor of a freed block", "use-after-free", kStreams, descriptor},
      {"attributes of a freed block", "use-after-free", 0, attributes},
      {"range of a freed block", "use-after-free", 0, range},
      {"fill where nothing ever was", "use-of-unallocated-memory", 0, nothing_there},
      {"wait for an ended stream", "use-after-destroy", kStreams, stream_awaited},
      {"question to an ended stream", "use-after-destroy", kStreams, stream_asked},
      {"stream destroyed twice", "use-after-destroy", kStreams, stream_twice},
      {"copy on an ended stream", "use-after-destroy", kStreams, copy_on_stream},
      {"record of an ended event", "use-after-destroy", kStreams, event_recorded},
      {"wait for an ended event", "use-after-destroy", 0, event_awaited},
      {"stream waits for an ended event", "use-after-destroy", kStreams, event_awaited_by_a_stream},
      {"event destroyed twice", "use-after-destroy", 0, event_twice},
      {"record of an ended notify", "use-after-destroy", kStreams, notify_recorded},
      {"notify destroyed twice", "use-after-destroy", 0, notify_twice},
      {"ended context made current", "use-after-destroy", 0, context_made_current},
      {"context destroyed twice", "use-after-destroy", 0, context_twice},
      {"data buffer destroyed twice", "use-after-destroy", 0, data_buffer_twice},
      {"stream that never was", "use-of-unknown-handle", 0, unknown_stream},
      {"event that never was", "use-of-unknown-handle", 0, unknown_event},
  };
}

}  // namespace planted
