#include "runtime/shared_event_calls.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "base/words.h"
#include "memory/ipc_keys.h"
#include "platform/process.h"
#include "runtime/event_calls.h"
#include "runtime/inventory.h"
#include "runtime/stream_calls.h"
#include "runtime/telling.h"

namespace belay {
namespace {

using schedule::EventRecord;
using schedule::Lock;

// A secret as text (memory/ipc_keys.h): of a notify's key, and of an event's handle, all of whose bytes
// count.
constexpr std::size_t kLetters = kKeyBytes - 1;
static_assert(kLetters == ACL_IPC_EVENT_HANDLE_SIZE);

constexpr std::size_t kMostNamedAtOnce = 31;  // V-399, as for memory
constexpr std::size_t kMostNamed = 32768;

// What others must know of a signal.
std::uint64_t about(const Process& process, std::uint32_t device) {
  return machine::AboutSignal::of_event(process.settings().memory.visible[device]);
}
// The device as this process numbers it; where it does not see it, the current one stands for it.
std::uint32_t device_of(const Process& process, std::uint64_t about, std::uint32_t current) {
  const std::vector<std::uint32_t>& visible = process.settings().memory.visible;
  const auto found = std::ranges::find(visible, machine::AboutSignal::device(about));
  return found == visible.end() ? current : static_cast<std::uint32_t>(found - visible.begin());
}

Refusal none_left(const char* rule, aclError code, const char* what) {
  return refuse(
      {code, rule, "EE1023",
       fmt::format("the machine has no more {} for several processes, or the system no thread", what), "",
       "destroy those that are not needed any more"});
}

Refusal no_place_to_wait(const char* rule) {
  return refuse(
      {ACL_ERROR_RT_NO_EVENT_RESOURCE, rule, "EL0008",
       fmt::format("{} waits of this process for other processes are queued, and there cannot be more",
                   machine::kWaits),
       "", "synchronise the streams that wait before you queue more waits"});
}

Refusal unknown(const char* rule, const char* what) {
  return driver_refuses(rule,
                        fmt::format("no process on this machine has given away what this {} names: it is not "
                                    "whole, its maker has destroyed it, or its maker has ended",
                                    what),
                        "pass it on unchanged, and keep its maker alive");
}

Status publish(Process& process, std::optional<machine::Secret>& key, machine::ShareKind kind, bool checking,
               const machine::SignalName& name, const char* rule) {
  if (key) return done();
  key = process.machine().shares().publish(
      {.kind = kind, .checking = checking, .words = {name.index, name.serial}});
  if (key) return done();
  return refuse({ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, rule, "EE1023",
                 "the machine has no more room for what processes give away, or the kernel no random numbers",
                 "", "destroy what is not shared any more"});
}

// What a handle or key leads to, if this process may have it.
Result<machine::SignalName> found(Process& process, machine::ShareKind kind, const char* text,
                                  const char* rule, const char* what) {
  const std::optional<machine::Secret> secret = secret_in({text, kLetters});
  machine::Shares& shares = process.machine().shares();
  const std::optional<machine::Share> share = secret ? shares.find(kind, *secret) : std::nullopt;
  if (!share) return unknown(rule, what);
  using Answer = machine::Shares::Answer;
  const Answer answer = shares.is_mine(*share) ? Answer::Yes : shares.allows(*share);
  const auto refused = [&](std::string why, std::string todo) {
    return driver_refuses(rule, fmt::format("process {} made it, and {}", share->process, why),
                          std::move(todo));
  };
  switch (answer) {
    case Answer::Yes:
      return machine::SignalName{share->words[0], share->words[1]};
    case Answer::NotNamed:
      return refused(fmt::format("has not named process {}, which this is", platform::process_id()),
                     "let it name this process, by what aclrtDeviceGetBareTgid returns here");
    case Answer::NamedBeforeItStarted:
      return refused(
          fmt::format("named process {} before this one started with that number", platform::process_id()),
          "let it name this process again, now that it runs");
    case Answer::OtherNumbers:
      break;
  }
  return refused("numbers processes otherwise: it is in another container",
                 "run both in one, or export without the check of process numbers");
}

Status needs_sharing(Process& process, const char* rule) {
  return needs_feature(process, Feature::SharedSignals, rule);
}

}  // namespace

// --- events ---------------------------------------------------------------------------------------

namespace {
aclrtEvent add_event(Process& process, SharedEventRef shared, std::uint32_t device, bool opened) {
  auto event = std::make_shared<Event>(Event::Kind::Ex, ACL_EVENT_IPC, device);
  event->shared = std::move(shared);
  event->opened = opened;
  const Handle handle = new_handle();
  event->handle = handle;
  process.events().events.add(handle, std::move(event));
  tell_object(observe::What::Created, observe::Object::Event, handle, device);
  return reinterpret_cast<aclrtEvent>(handle);
}
}  // namespace

Status create_shared_event(Process& process, aclrtEvent* out, std::uint32_t device) {
  if (Status here = needs_sharing(process, "R-159"); !here) return here;
  SharedEventRef shared = process.shared_signals().make_event(about(process, device));
  if (shared == nullptr) return none_left("R-188", ACL_ERROR_RT_NO_EVENT_RESOURCE, "events");
  *out = add_event(process, std::move(shared), device, false);
  return done();
}

void end_shared_event(Process& process, Event& event) {
  std::shared_ptr<schedule::RemoteRecord> asked_of;  // which refers to the event
  {
    const Lock held = process.scheduler().lock();
    asked_of = std::move(event.shared->asked_of);
  }
  const std::lock_guard lock{event.publishing};
  if (event.key) process.machine().shares().end((*event.key)[0]);
}

Status give_event_away(Process& process, aclrtEvent handle, aclrtIpcEventHandle* out) {
  if (out == nullptr) return null_pointer("R-188", "handle");
  ASSIGN_OR_RETURN(const EventRef event, known_event(process, handle, "R-188"));
  if (event->shared == nullptr)
    return rejected("R-188", "event", hex(handle), "it was not created with ACL_EVENT_IPC",
                    "create it with aclrtCreateEventExWithFlag(…, ACL_EVENT_IPC)");
  if (event->opened)
    return rejected("R-188", "event", hex(handle), "another process created it",
                    "pass on the handle that it gave");
  const std::lock_guard lock{event->publishing};
  if (Status published =
          publish(process, event->key, machine::ShareKind::Event, false, event->shared->name, "R-188");
      !published)
    return published;
  std::memcpy(out->reserved, text_of(*event->key).data(), kLetters);
  return done();
}

Status open_event(Process& process, const aclrtIpcEventHandle& handle, aclrtEvent* out) {
  if (out == nullptr) return null_pointer("R-188", "event");
  if (Status here = needs_sharing(process, "R-188"); !here) return here;
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "R-188"));
  ASSIGN_OR_RETURN(const machine::SignalName name,
                   found(process, machine::ShareKind::Event, handle.reserved, "R-188", "handle"));
  std::uint64_t of = 0;
  SharedEventRef shared = process.shared_signals().open_event(name, of);
  if (shared == nullptr) return unknown("R-188", "handle");
  *out = add_event(process, std::move(shared), device_of(process, of, context->device), true);
  return done();
}

Status record_shared_event(Process& process, Event& event, aclrtEvent handle, const StreamRef& stream,
                           const schedule::RecordTask::Left& give_back) {
  SharedSignals& all = process.shared_signals();
  const std::shared_ptr<EventRecord> record = SharedSignals::new_record(handle_of(handle));
  record->stream = stream;
  const auto left = [&all, shared = event.shared, record, give_back](Lock& lock) {
    all.left(*shared, *record, lock);
    if (give_back) give_back(lock);
  };
  Status queued =
      submit(process, *stream, std::make_unique<schedule::RecordTask>(record, left), &record->position);
  Lock lock = process.scheduler().lock();
  if (queued) {
    all.publish(event.shared, record, lock);
  } else if (give_back) {
    give_back(lock);
  }
  return queued;
}

Status wait_shared_event(Process& process, Stream& stream, const EventRef& event, std::uint32_t seconds) {
  SharedSignals::Latest latest;
  {
    Lock lock = process.scheduler().lock();
    latest = process.shared_signals().latest(event->shared, event->handle, lock);
  }
  if (latest.no_room) return no_place_to_wait("R-188");
  if (latest.mine != nullptr)
    return submit(process, stream, std::make_unique<schedule::AwaitTask>(latest.mine, seconds, nullptr));
  if (latest.theirs == nullptr) return done();
  return submit(process, stream,
                std::make_unique<schedule::AwaitRemoteTask>(latest.theirs, seconds, nullptr));
}

Result<bool> shared_event_is_complete(Process& process, Event& event) {
  Lock lock = process.scheduler().lock();
  const SharedSignals::Latest latest = process.shared_signals().latest(event.shared, event.handle, lock);
  if (latest.no_room) return no_place_to_wait("R-188");
  event.shared->asked_of = latest.theirs;  // it stays demanded
  if (latest.mine != nullptr) {
    let_move(process, latest.mine.get(), lock);
    return seen_complete(*latest.mine);
  }
  if (latest.theirs == nullptr) return true;
  latest.theirs->demand(lock);
  process.shared_signals().look_at(*latest.theirs, true, lock);
  if (latest.theirs->lost) return latest.theirs->why_lost();
  return latest.theirs->complete;
}

bool shared_event_is_recorded(Process& process, Event& event) {
  Lock lock = process.scheduler().lock();
  return process.shared_signals().latest(event.shared, event.handle, lock).recorded;
}

Status synchronize_shared_event(Process& process, Event& event, std::int32_t timeout, const char* rule) {
  schedule::Scheduler& scheduler = process.scheduler();
  Lock lock = scheduler.lock();
  const SharedSignals::Latest latest = process.shared_signals().latest(event.shared, event.handle, lock);
  if (latest.no_room) return no_place_to_wait(rule);
  if (latest.mine != nullptr) return synchronize_record(process, latest.mine, timeout, rule, lock);
  if (latest.theirs == nullptr) return done();
  const schedule::Deadline deadline = deadline_in(timeout);
  latest.theirs->demand(lock);
  while (!latest.theirs->complete && !latest.theirs->lost) {
    if (deadline && schedule::Clock::now() >= *deadline) return event_came_late(rule, timeout);
    scheduler.wait_for_change(lock, nullptr, deadline);
  }
  if (latest.theirs->lost) return latest.theirs->why_lost();
  return done();
}

// --- notifies -------------------------------------------------------------------------------------

void end_shared_notify(Process& process, Notify& notify) {
  const std::lock_guard lock{notify.publishing};
  if (notify.key) process.machine().shares().end((*notify.key)[0]);
}

void demanded_elsewhere(Process& process, const Notify& notify) {
  if (!process.scheduler().policy().driven()) return;
  Lock lock = process.scheduler().lock();
  if (notify.state->shared != nullptr) process.shared_signals().look_at_demands(lock);
}

Status room_to_wait(Process& process, const Notify& notify) {
  Lock lock = process.scheduler().lock();
  if (notify.state->shared == nullptr || process.shared_signals().make_room(*notify.state, lock))
    return done();
  return no_place_to_wait("R-211");
}

Status export_notify(Process& process, aclrtNotify handle, char* key, std::size_t length,
                     std::uint64_t flags) {
  if (handle == nullptr) return null_pointer("R-211", "notify");
  if (key == nullptr) return null_pointer("R-211", "key");
  if (Status here = needs_sharing(process, "R-211"); !here) return here;
  ASSIGN_OR_RETURN(const NotifyRef notify, known_notify(process, handle, "R-211"));
  if (length < kKeyBytes)
    return rejected("R-211", "len", length, "a key has 65 bytes", "pass a buffer of at least 65 bytes");
  if (flags != ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT && flags != ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION)
    return rejected("R-211", "flags", flags, "no such flag", "pass 0 or 2");
  if (notify->opened)
    return driver_refuses("R-211", "the notify was imported, and only its maker exports it",
                          "pass on the key that its maker gave");
  const std::lock_guard lock{notify->publishing};
  const bool checking = flags == ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT;
  if (notify->key && notify->checking != checking)
    return rejected("R-211", "flags", flags, "the notify was exported with other flags before",
                    "pass the same flags");
  const std::optional<machine::SignalName> name = process.shared_signals().share(
      notify->state,
      machine::AboutSignal::of_notify(process.settings().memory.visible[notify->device], notify->number));
  if (!name) return none_left("R-211", ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "notifies");
  if (Status published = publish(process, notify->key, machine::ShareKind::Notify, checking, *name, "R-211");
      !published)
    return published;
  notify->checking = checking;
  std::memcpy(key, text_of(*notify->key).c_str(), kKeyBytes);
  return done();
}

Status import_notify(Process& process, aclrtNotify* out, const char* key, std::uint64_t flags) {
  if (out == nullptr) return null_pointer("R-211", "notify");
  if (key == nullptr) return null_pointer("R-211", "key");
  if (Status here = needs_sharing(process, "R-211"); !here) return here;
  if (flags != ACL_RT_NOTIFY_IMPORT_FLAG_DEFAULT && flags != ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS)
    return rejected("R-211", "flags", flags, "no such flag", "pass 0 or 2");
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "R-211"));
  const std::string text{key, ::strnlen(key, kKeyBytes)};  // a C string (C-16)
  if (text.size() != kLetters) return unknown("R-211", "key");
  ASSIGN_OR_RETURN(const machine::SignalName name,
                   found(process, machine::ShareKind::Notify, text.data(), "R-211", "key"));
  const Handle handle = new_handle();
  std::uint64_t of = 0;
  std::shared_ptr<schedule::NotifyState> state = process.shared_signals().open_notify(name, handle, of);
  if (state == nullptr) return unknown("R-211", "key");
  const std::uint32_t device = device_of(process, of, context->device);
  auto notify = std::make_shared<Notify>(handle, device, machine::AboutSignal::number(of));
  notify->state = std::move(state);
  notify->opened = true;
  process.events().notifies.add(handle, std::move(notify));
  tell_object(observe::What::Created, observe::Object::Notify, handle, device);
  *out = reinterpret_cast<aclrtNotify>(handle);
  return done();
}

namespace {
Status allow(Process& process, const Notify& notify, std::span<const std::int32_t> processes) {
  if (notify.opened || !notify.key)
    return driver_refuses("R-211", "this process has not exported the notify",
                          "export it first, where it was made");
  if (!notify.checking) {
    return refuse(
        {ACL_ERROR_RT_NO_PERMISSION, "R-211", "EE1018",
         "the notify was exported without the check of process numbers, so every process may import it", "",
         "do not name processes, or export it with flags 0"});
  }
  std::vector<std::int32_t> named;
  std::ranges::copy_if(processes, std::back_inserter(named),
                       [](std::int32_t each) { return each != 0 && each != platform::process_id(); });
  if (named.empty())
    return driver_refuses("R-211", "no process is named but this one",
                          "name the processes that will import it");
  if (process.machine().shares().allow((*notify.key)[0], named, kMostNamed)) return done();
  return driver_refuses("R-211", fmt::format("no more processes can be named: {} is the most", kMostNamed),
                        "export it without the check of process numbers");
}

Status check_count(std::size_t count) {
  if (count == 0) return rejected("R-211", "num", count, "no process is named", "pass at least 1");
  if (count <= kMostNamedAtOnce) return done();
  return rejected("R-211", "num", count, fmt::format("one call names at most {} processes", kMostNamedAtOnce),
                  "call several times");
}
}  // namespace

Status allow_notify(Process& process, aclrtNotify handle, const std::int32_t* processes, std::size_t count) {
  if (handle == nullptr) return null_pointer("R-211", "notify");
  if (processes == nullptr) return null_pointer("R-211", "pid");
  if (Status here = needs_sharing(process, "R-211"); !here) return here;
  ASSIGN_OR_RETURN(const NotifyRef notify, known_notify(process, handle, "R-211"));
  if (Status fits = check_count(count); !fits) return fits;
  const std::vector<std::int32_t> named{processes, processes + count};
  const std::lock_guard lock{notify->publishing};
  return allow(process, *notify, named);
}

// As aclrtIpcMemImportPidInterServer (V-405 ... V-408). All devices of the machine are on one server.
Status allow_notify_on_servers(Process& process, aclrtNotify handle, const aclrtServerPid* servers,
                               std::size_t count) {
  if (Status here = needs_feature(process, Feature::ServerPids, "R-211"); !here) return here;
  if (handle == nullptr) return rejected("R-211", "notify", "NULL", "there is no notify", "pass a notify");
  if (servers == nullptr) return rejected("R-211", "serverPids", "NULL", "there is no list", "pass a list");
  if (count == 0) return rejected("R-211", "num", count, "no server is named", "pass at least 1");
  const std::vector<aclrtServerPid> all{servers, servers + count};
  if (std::ranges::any_of(all, [](const aclrtServerPid& each) { return each.pid == nullptr; }))
    return rejected("R-211", "serverPids", "an entry", "its pid is NULL",
                    "name at least one process of each server");
  ASSIGN_OR_RETURN(const NotifyRef notify, known_notify(process, handle, "R-211"));
  const std::lock_guard lock{notify->publishing};
  ASSIGN_OR_RETURN(const std::int64_t server_device,
                   device_attribute(process, ACL_DEV_ATTR_SUPER_POD_DEVICE_ID));
  for (const aclrtServerPid& each : all) {
    if (each.sdid != server_device)
      return rejected("R-211", "sdid", each.sdid, "no device of this machine has that number",
                      "ask aclrtGetDeviceInfo for ACL_DEV_ATTR_SUPER_POD_DEVICE_ID");
    if (Status fits = check_count(each.num); !fits) return fits;
    const std::vector<std::int32_t> named{each.pid, each.pid + each.num};
    if (Status allowed = allow(process, *notify, named); !allowed) return allowed;
  }
  return done();
}

}  // namespace belay
