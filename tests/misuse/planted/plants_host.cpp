// Host memory of queued work that is freed, changed, or out of its frame before the program waited.
#include <cstring>

#include "plants.h"

namespace planted {
namespace {

constexpr std::size_t kBytes = 4096;

// A stream of its own, for how its work ends is open.
struct Copy {
  explicit Copy(RandomProgram& program, Place place = Place::Pinned)
      : p{program},
        area{p.idle(Place::Device, kBytes)},
        host{p.make(place, kBytes)},
        stream{p.make_stream()} {
    p.fill(area);
    up = p.pick(2) == 0;
  }
  void queue() {
    if (up)
      MUST(aclrtMemcpyAsync(area.at, kBytes, host.at, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle));
    else
      MUST(aclrtMemcpyAsync(host.at, kBytes, area.at, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream.handle));
  }
  void queue_rows() {
    if (up)
      MUST(aclrtMemcpy2dAsync(area.at, 64, host.at, 64, 40, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream.handle));
    else
      MUST(aclrtMemcpy2dAsync(host.at, 64, area.at, 64, 40, 64, ACL_MEMCPY_DEVICE_TO_HOST, stream.handle));
  }
  void end() {
    may_fail(aclrtSynchronizeStream(stream.handle));
    may_fail(aclrtDestroyStream(stream.handle));
    p.forget(stream);
  }
  RandomProgram& p;
  Area &area, &host;
  Stream& stream;
  bool up = true;
};

void pinned_freed(RandomProgram& p) {
  Copy copy{p};
  copy.queue();
  MUST(PLANTED(aclrtFreeHost, copy.host.at));
  p.forget(copy.host);
  copy.end();
}
void pinned_freed_with_rows(RandomProgram& p) {
  Copy copy{p};
  copy.queue_rows();
  MUST(PLANTED(aclrtFreeHost, copy.host.at));
  p.forget(copy.host);
  copy.end();
}
// It waits for an event, but for one that was recorded before the copy.
void pinned_freed_after_another_wait(RandomProgram& p) {
  Copy copy{p};
  aclrtEvent event = nullptr;
  MUST(aclrtCreateEvent(&event));
  MUST(aclrtRecordEvent(event, copy.stream.handle));
  copy.queue();
  MUST(aclrtSynchronizeEvent(event));
  MUST(PLANTED(aclrtFreeHost, copy.host.at));
  p.forget(copy.host);
  copy.end();
  MUST(aclrtDestroyEvent(event));
}
void registration_ended(RandomProgram& p) {
  Copy copy{p, Place::Registered};
  copy.queue();
  MUST(PLANTED(aclrtHostUnregister, copy.host.at));
  copy.end();
  void* seen = nullptr;
  MUST(aclrtHostRegister(copy.host.at, copy.host.bytes, ACL_HOST_REGISTER_MAPPED, &seen));
}

// Sources are not compared behind functions of the program, so there must be none, of no thread.
void changed(RandomProgram& p, Place place, bool whole_device) {
  p.wait_for_all();
  Copy copy{p, place};
  p.use(copy.stream.device);
  copy.up = true;
  std::memset(copy.host.at, 1, kBytes);
  copy.queue();
  copy.host.at[p.pick(kBytes)] = 2;
  if (whole_device)
    MUST(PLANTED(aclrtSynchronizeDevice));
  else
    MUST(PLANTED(aclrtSynchronizeStream, copy.stream.handle));
  copy.end();
}
void pinned_changed(RandomProgram& p) { changed(p, Place::Pinned, false); }
void registered_changed(RandomProgram& p) { changed(p, Place::Registered, false); }
void changed_before_device_wait(RandomProgram& p) { changed(p, Place::Pinned, true); }

[[gnu::noinline]] std::uintptr_t send_local_variable(char* block, aclrtStream stream) {
  alignas(kBytes) char host[kBytes];
  void* seen = nullptr;
  std::memset(host, 1, sizeof host);
  MUST(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &seen));
  MUST(aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  return reinterpret_cast<std::uintptr_t>(host);
}
void local_variable(RandomProgram& p) {
  Area& area = p.idle(Place::Device, kBytes);
  Stream& stream = p.make_stream();
  const std::uintptr_t host = send_local_variable(area.at, stream.handle);
  MUST(PLANTED(aclrtSynchronizeStream, stream.handle));
  MUST(aclrtHostUnregister(reinterpret_cast<void*>(host)));
  area.written.add(0, kBytes);
}

}  // namespace

std::vector<Kind> host_buffers() {
  return {
      {"pinned memory freed before the wait", "host-buffer-freed", kStreams, pinned_freed},
      {"pinned memory freed before the wait for rows", "host-buffer-freed", kStreams, pinned_freed_with_rows},
      {"pinned memory freed after another wait", "host-buffer-freed", kStreams,
       pinned_freed_after_another_wait},
      {"registration ended before the wait", "host-buffer-freed", kStreams, registration_ended},
      {"pinned memory changed before the wait", "host-buffer-changed", kStreams | kAlone, pinned_changed},
      {"registered memory changed before the wait", "host-buffer-changed", kStreams | kAlone,
       registered_changed},
      {"pinned memory changed before the device is waited for", "host-buffer-changed", kStreams | kAlone,
       changed_before_device_wait},
      {"local variable of a function that returned", "host-buffer-out-of-frame", kStreams | kUnwatched,
       local_variable},
  };
}

}  // namespace planted
