#include "runtime/stream_calls.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/words.h"
#include "memory/history.h"
#include "observe/observe.h"
#include "platform/threads.h"
#include "runtime/telling.h"

namespace belay {
namespace {

using schedule::Arrival;
using schedule::Clock;
using schedule::Deadline;
using schedule::Lock;

}  // namespace

Status told(const std::shared_ptr<const Error>& error) {
  if (error == nullptr) return done();
  return std::make_unique<Error>(*error);
}

Refusal stale_handle(const char* rule, const char* kind, Handle handle) {
  return of_dead_handle(
      refuse(
          {ACL_ERROR_RT_INVALID_HANDLE, rule, "EE1017", fmt::format("{} is not a live {}", hex(handle), kind),
           "it was destroyed, or is another kind of object, or never existed",
           fmt::format("pass {} {} that was created and not destroyed",
                       std::string_view{"aeiou"}.find(*kind) == std::string_view::npos ? "a" : "an", kind)}),
      history_of_handle(handle));
}

Result<StreamRef> known_stream(Process& process, aclrtStream stream, const char* rule) {
  if (stream == nullptr) return StreamRef{};
  StreamRef found = process.streams().find(handle_of(stream));
  if (found == nullptr) return stale_handle(rule, "stream", handle_of(stream));
  return found;
}

Result<StreamRef> meant_stream(Process& process, aclrtStream stream, const char* rule) {
  Result<StreamRef> known = known_stream(process, stream, rule);
  if (!known) return known;
  const Context* context = process.current();
  if (context == nullptr) return no_context(rule);
  return *known != nullptr ? *known : context->default_stream;
}

Result<StreamRef> own_stream(Process& process, const StreamRef& known, const char* no_context_rule,
                             const char* other_context_rule) {
  const Context* context = process.current();
  if (context == nullptr) return no_context(no_context_rule);
  if (known == nullptr) return context->default_stream;
  if (known->group == context->group) return known;
  return refuse({ACL_ERROR_RT_STREAM_CONTEXT, other_context_rule, "EE1010",
                 fmt::format("stream {} (id {}) belongs to another context than the current one",
                             hex(known->handle), known->id),
                 "", "make the context of the stream current with aclrtSetCurrentContext or aclrtSetDevice"});
}

Result<StreamRef> own_stream(Process& process, aclrtStream stream, const char* rule) {
  Result<StreamRef> known = known_stream(process, stream, rule);
  if (!known) return known;
  return own_stream(process, *known, rule, "R-12");
}

Status needs_feature_after_context(Process& process, const char* rule, Feature feature) {
  if (has(process.product().product, feature)) [[likely]]
    return done();
  return needs_context(process, rule, feature);
}

Workplace workplace(Process& process, const Stream& stream) {
  return {process.memory(), process.links(), stream.device()};
}

Status submit(Process& process, Stream& stream, TaskPtr task, std::uint64_t* position) {
  if (!stream.traits.takes_work) {
    return rejected("R-130", "stream", hex(stream.handle),
                    "it is for use by the device only, and takes no work from the host",
                    "create the stream without ACL_STREAM_DEVICE_USE_ONLY");
  }
  return process.scheduler().submit(stream, std::move(task), position);
}

Status submit_and_wait(Process& process, Stream& stream, TaskPtr task) {
  schedule::Scheduler& scheduler = process.scheduler();
  if (schedule::InsideCallback::of_this_thread() == &stream) return would_wait_for_itself("R-143");
  if (!stream.traits.runs) {  // nothing would ever run it, and nobody waits for such a stream
    schedule::RunResult result;
    do result = task->run(SIZE_MAX);
    while (result.more);
    if (result.trouble) return std::move(result.trouble);
    if (observe::wanted(observe::What::Copied)) {
      observe::quietly([&] {
        const schedule::Description did = task->describe();
        tell_copied(did.operation, stream.device(), nullptr, did.bytes, did.touches);
      });
    }
    return done();
  }
  std::uint64_t position = 0;
  if (Status queued = submit(process, stream, std::move(task), &position); !queued) return queued;
  Lock lock = scheduler.lock();
  return arrived(scheduler, stream, position, scheduler.wait(lock, stream, position, {}), "M-265", -1, lock);
}

Status create_stream(Process& process, aclrtStream* out, std::uint32_t priority, std::uint32_t flags) {
  if (out == nullptr) return null_pointer("R-126", "stream");
  if (Status here = needs_feature_after_context(process, "R-126", Feature::AllButIpv); !here) return here;
  constexpr std::uint32_t kOthers = 0x1F;
  if ((flags & ACL_STREAM_DEVICE_USE_ONLY) != 0 && (flags & kOthers) != 0) {
    return rejected("R-128", "flag", fmt::format("{:#x}", flags),
                    "ACL_STREAM_DEVICE_USE_ONLY cannot be combined with other flags", "pass it alone");
  }
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "R-126"));
  const std::shared_ptr<schedule::Group> group = context->group;
  ASSIGN_OR_RETURN(const StreamRef stream,
                   process.streams().create(group, {.priority = priority, .flags = flags}));
  if (!context->alive.load(std::memory_order_acquire)) {  // another thread has ended it meanwhile
    if (process.streams().take(stream->handle) != nullptr) {
      Lock lock = process.scheduler().lock();
      process.scheduler().end(*stream, lock);
      process.streams().forget(*stream);
    }
    return no_context("R-126");
  }
  const aclrtStream made = as_handle(*stream);
  *out = made;
  tell_object(observe::What::Created, observe::Object::Stream, stream->handle, stream->device());
  process.state_callbacks().tell(made, ACL_RT_STREAM_STATE_CREATE_POST);
  return done();
}

Status destroy_stream(Process& process, aclrtStream handle, bool force) {
  const char* rule = force ? "R-134" : "R-133";
  if (handle == nullptr) return null_pointer("R-132", "stream");
  if (force) {
    if (Status here = needs_feature_after_context(process, "R-132", Feature::AllButIpv); !here) return here;
  }
  ASSIGN_OR_RETURN(const StreamRef found, own_stream(process, handle, "R-132"));
  Stream& stream = *found;
  if (stream.is_default) {
    return rejected("R-135", "stream", hex(stream.handle),
                    "it is the default stream of a context, and ends with it",
                    "destroy the context or reset the device instead");
  }
  if (!force && schedule::InsideCallback::of_this_thread() == &stream) return would_wait_for_itself(rule);
  if (stream.destroyer.load() == platform::this_thread())
    return stale_handle("R-136", "stream", stream.handle);
  {
    // A callback that destroys the stream it is told of would be told of that too, and so on.
    struct Destroying {
      explicit Destroying(Stream& of) : stream_{of} { stream_.destroyer.store(platform::this_thread()); }
      Destroying(const Destroying&) = delete;
      Destroying& operator=(const Destroying&) = delete;
      ~Destroying() { stream_.destroyer.store(0); }
      Stream& stream_;
    } const destroying{stream};
    process.state_callbacks().tell(handle, ACL_RT_STREAM_STATE_DESTROY_PRE);
  }
  schedule::Scheduler& scheduler = process.scheduler();
  Lock lock = scheduler.lock();
  if (!force && stream.traits.runs && stream.traits.takes_work) {
    const std::uint64_t position = stream.submitted.load();
    if (scheduler.wait(lock, stream, position, {}) == Arrival::Reached) tell_waited(stream, position);
  }
  if (process.streams().take(stream.handle) == nullptr) return stale_handle("R-136", "stream", stream.handle);
  process.subscriptions().drop(scheduler, stream, lock);
  scheduler.end(stream, lock);
  process.streams().forget(stream);
  tell_object(observe::What::Destroyed, observe::Object::Stream, stream.handle, stream.device());
  return done();
}

// --- waiting --------------------------------------------------------------------------------------

Deadline deadline_in(std::int32_t milliseconds) {
  if (milliseconds < 0) return std::nullopt;
  return Clock::now() + std::chrono::milliseconds{milliseconds};
}

Status check_timeout(const char* rule, std::int32_t milliseconds) {
  if (milliseconds == -1 || milliseconds > 0) return done();
  Refusal refusal =
      rejected(rule, "timeout", milliseconds, "it is neither -1 nor a positive number of milliseconds",
               "pass -1 to wait for ever");
  if (milliseconds < -1) refusal->remember = false;  // caught by the first layer
  return refusal;
}

Status arrived(schedule::Scheduler& scheduler, Stream& stream, std::uint64_t position, Arrival arrival,
               const char* rule, std::int32_t timeout, Lock& lock) {
  switch (arrival) {
    case Arrival::Reached:
      tell_waited(stream, position);
      return told(scheduler.take_error(stream, position, lock));
    case Arrival::Stopped:
      tell_waited(stream, stream.finished.load(std::memory_order_acquire));
      return told(scheduler.take_error(stream, position, lock));
    case Arrival::TimedOut:
      return refuse({ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, rule, "EE1002",
                     fmt::format("stream {} was not done after {} ms; its work goes on", stream.id, timeout),
                     "", "wait again, or find out what the stream waits for"});
    case Arrival::Cleared:
      tell_waited(stream, stream.finished.load(std::memory_order_acquire));
      return refuse({ACL_ERROR_RT_STREAM_ABORT, "R-154", "EE1018",
                     fmt::format("the tasks of stream {} were dropped by an abort", stream.id), "",
                     "submit again what is still needed"});
    case Arrival::Ended:
      return stale_handle("R-136", "stream", stream.handle);
    case Arrival::OwnCallback:
      break;
  }
  return would_wait_for_itself("R-143");
}

Status synchronize_stream(Process& process, aclrtStream handle, std::int32_t timeout, const char* rule) {
  ASSIGN_OR_RETURN(const StreamRef found, meant_stream(process, handle, rule));
  Stream& stream = *found;
  if (!stream.traits.is_waited_for) return done();
  const std::uint64_t position = stream.submitted.load(std::memory_order_acquire);
  const bool all_done = stream.finished.load(std::memory_order_acquire) >= position;
  if (all_done && !stream.troubled.load(std::memory_order_acquire)) {
    tell_waited(stream, position);
    return done();
  }
  schedule::Scheduler& scheduler = process.scheduler();
  Lock lock = scheduler.lock();
  const Arrival arrival = scheduler.wait(lock, stream, position, deadline_in(timeout));
  return arrived(scheduler, stream, position, arrival, rule, timeout, lock);
}

Status synchronize_device(Process& process, std::int32_t timeout, const char* rule) {
  ASSIGN_OR_RETURN(const Context* context, current_context(process, rule));
  const Deadline deadline = deadline_in(timeout);
  const std::uint32_t device = context->device;
  struct Goal {
    StreamRef stream;
    std::uint64_t position;
  };
  std::vector<Goal> goals, reached;
  const auto tell_reached = [&] {
    for (const Goal& each : reached) tell_waited(*each.stream, each.position);
  };
  for (StreamRef& each : process.streams().of_device(device)) {
    if (!each->traits.is_waited_for) continue;
    const std::uint64_t position = each->submitted.load(std::memory_order_acquire);
    if (each->finished.load(std::memory_order_acquire) >= position &&
        !each->troubled.load(std::memory_order_acquire)) {
      if (observe::wanted(observe::What::Waited)) reached.push_back({std::move(each), position});
      continue;
    }
    goals.push_back({std::move(each), position});
  }
  if (goals.empty()) {
    tell_reached();
    return done();
  }
  std::ranges::sort(goals, {}, [](const Goal& goal) { return goal.stream->id; });
  schedule::Scheduler& scheduler = process.scheduler();
  Lock lock = scheduler.lock();
  const Stream* inside = schedule::InsideCallback::of_this_thread();
  if (std::ranges::any_of(goals, [&](const Goal& each) { return each.stream.get() == inside; }))
    return would_wait_for_itself("R-143");
  const Goal* failed = nullptr;  // the first; all are waited for
  Arrival how = Arrival::Reached;
  for (const Goal& each : goals) {
    const Arrival arrival = scheduler.wait(lock, *each.stream, each.position, deadline);
    if (arrival == Arrival::TimedOut || arrival == Arrival::OwnCallback)
      return arrived(scheduler, *each.stream, each.position, arrival, rule, timeout, lock);
    if (arrival == Arrival::Reached) reached.push_back(each);
    if (arrival == Arrival::Ended || failed != nullptr) continue;
    const bool error = each.stream->group->stopped != nullptr ||
                       (each.stream->error != nullptr && each.stream->error_position <= each.position);
    if (arrival == Arrival::Cleared || error) {
      failed = &each;
      how = arrival;
    }
  }
  tell_reached();
  if (failed == nullptr) return done();
  return arrived(scheduler, *failed->stream, failed->position, how, rule, timeout, lock);
}

Status query_stream(Process& process, aclrtStream handle, aclrtStreamStatus* status) {
  if (status == nullptr) return null_pointer("R-145", "status");
  if (Status here = needs_feature_after_context(process, "R-145", Feature::AllButIpv); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef found, meant_stream(process, handle, "R-145"));
  Stream& stream = *found;
  if (!stream.idle() || stream.troubled.load(std::memory_order_acquire)) {
    Lock lock = process.scheduler().lock();
    process.scheduler().asked(stream, lock);
    if (stream.group->stopped) return told(stream.group->stopped);
    if (stream.error) return told(stream.error);
  }
  const std::uint64_t position = stream.submitted.load(std::memory_order_acquire);
  const bool idle = stream.finished.load(std::memory_order_acquire) >= position;
  if (idle) tell_waited(stream, position);
  *status = idle ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return done();
}

// --- attributes -----------------------------------------------------------------------------------

namespace {

Status unknown_attribute(aclrtStreamAttr attribute) {
  return rejected("R-149", "stmAttrType", static_cast<int>(attribute), "no such attribute",
                  "pass a member of aclrtStreamAttr");
}

Status set_failure_mode(Stream& stream, std::uint64_t mode) {
  const bool stop = (mode & 1) != 0;
  if (!stop && stream.stop_on_failure.load()) {
    return unsupported(
        "R-152", fmt::format("stream {} stops on failure, and cannot be made to continue again", stream.id),
        "create another stream");
  }
  if (stop) stream.stop_on_failure.store(true);
  return done();
}

}  // namespace

Status set_attribute(Process& process, aclrtStream handle, aclrtStreamAttr attribute,
                     const aclrtStreamAttrValue& value) {
  if (handle == nullptr && attribute == ACL_STREAM_ATTR_PRIORITY) {
    if (process.current() == nullptr) return no_context("R-149");
    return rejected("R-149", "stream", "NULL", "the default stream has no priority of its own",
                    "pass a stream that was created");
  }
  ASSIGN_OR_RETURN(const StreamRef found, meant_stream(process, handle, "R-149"));
  Stream& stream = *found;
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      return set_failure_mode(stream, value.failureMode);
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      stream.overflow_switch.store(value.overflowSwitch);
      return done();
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      stream.custom_tag.store(value.userCustomTag);
      return done();
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      stream.cache_switch.store(value.cacheOpInfoSwitch);
      return done();
    case ACL_STREAM_ATTR_PRIORITY:
      stream.priority.store(std::min(value.streamPriority, kLowestPriority));
      return done();
  }
  return unknown_attribute(attribute);
}

Status get_attribute(Process& process, aclrtStream handle, aclrtStreamAttr attribute,
                     aclrtStreamAttrValue& value) {
  ASSIGN_OR_RETURN(const StreamRef found, meant_stream(process, handle, "R-149"));
  const Stream& stream = *found;
  switch (attribute) {
    case ACL_STREAM_ATTR_FAILURE_MODE:
      value.failureMode = stream.stop_on_failure.load() ? ACL_STOP_ON_FAILURE : ACL_CONTINUE_ON_FAILURE;
      return done();
    case ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK:
      value.overflowSwitch = stream.overflow_switch.load();
      return done();
    case ACL_STREAM_ATTR_USER_CUSTOM_TAG:
      value.userCustomTag = stream.custom_tag.load();
      return done();
    case ACL_STREAM_ATTR_CACHE_OP_INFO:
      value.cacheOpInfoSwitch = stream.cache_switch.load();
      return done();
    case ACL_STREAM_ATTR_PRIORITY:
      value.streamPriority = stream.priority.load();
      return done();
  }
  return unknown_attribute(attribute);
}

// --- taking work back -----------------------------------------------------------------------------

Status abort_stream(Process& process, aclrtStream handle) {
  if (Status here = needs_feature_after_context(process, "R-154", Feature::StreamControl); !here) return here;
  ASSIGN_OR_RETURN(const StreamRef found, meant_stream(process, handle, "R-154"));
  Lock lock = process.scheduler().lock();
  process.scheduler().clear(*found, lock);
  tell_waited(*found, found->finished.load(std::memory_order_acquire));
  return done();
}

Status stop_stream(Process& process, aclrtStream handle) {
  if (Status here = needs_feature_after_context(process, "R-155", Feature::StreamControl); !here) return here;
  if (handle == nullptr) {
    return rejected("R-155", "stream", "NULL", "the default stream cannot be stopped this way",
                    "pass a stream that was created");
  }
  ASSIGN_OR_RETURN(const StreamRef found, meant_stream(process, handle, "R-155"));
  Lock lock = process.scheduler().lock();
  process.scheduler().skip(*found, lock);
  return done();
}

Status abort_device(Process& process, std::int32_t id, std::uint32_t timeout) {
  constexpr std::uint32_t kLongest = 36 * 60 * 1000;  // ms
  if (Status here = needs_feature(process, Feature::StreamControl, "R-266"); !here) return here;
  if (timeout > kLongest)
    return rejected("R-230", "timeout", timeout, "more than 36 minutes",
                    "pass at most 2160000, or 0 for no limit");
  if (!process.has_device(id)) return bad_device("R-230", id, process.device_count());
  const auto device = static_cast<std::uint32_t>(id);
  schedule::Scheduler& scheduler = process.scheduler();
  if (scheduler.exchange_aborting(device, true)) {
    return refuse({ACL_ERROR_RT_DEVICE_TASK_ABORT, "R-230", "EE1018",
                   fmt::format("the tasks of device {} are being aborted by another thread", id), "",
                   "wait until that call has returned"});
  }
  // Also when a callback throws, which the door turns into a number, the device must take work again.
  struct Aborting {
    ~Aborting() { scheduler_.exchange_aborting(device_, false); }
    schedule::Scheduler& scheduler_;
    std::uint32_t device_;
  } const aborting{scheduler, device};
  const auto tell = [&](aclrtDeviceTaskAbortStage stage) {
    process.state_callbacks().task_abort.call_each([&](aclrtDeviceTaskAbortCallback callback, void* args) {
      if (const int32_t answer = callback(id, stage, timeout, args); answer != 0)
        observe::note("R-230", [&] { return fmt::format("a task-abort callback returned {}", answer); });
    });
  };
  tell(ACL_RT_DEVICE_TASK_ABORT_PRE);
  const std::vector<StreamRef> streams = process.streams().of_device(device);
  {
    Lock lock = scheduler.lock();
    for (const StreamRef& each : streams) {
      scheduler.clear(*each, lock);
      tell_waited(*each, each->finished.load(std::memory_order_acquire));
    }
  }
  tell(ACL_RT_DEVICE_TASK_ABORT_POST);
  return done();
}

}  // namespace belay
