#include "runtime/process.h"

#include <utility>

#include "base/words.h"
#include "memory/history.h"
#include "runtime/data_buffers.h"
#include "runtime/telling.h"

namespace belay {
namespace {

Refusal reset_too_often(std::int32_t id) {
  return refuse({ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "R-60", "EE1018",
                 fmt::format("device {} is not set: it was reset as often as it was set, or never set", id),
                 "", "call aclrtResetDevice once for each aclrtSetDevice of that device"});
}

}  // namespace

Process::Process(Settings settings, std::unique_ptr<machine::Machine> machine)
    : settings_{std::move(settings)},
      machine_{std::move(machine)},
      memory_{settings_.memory, *machine_},
      shared_signals_{*machine_, scheduler_, streams_},
      scheduler_{settings_.schedule, [this](const schedule::Failure& failure) { exceptions_.tell(failure); },
                 [this](bool any) { memory_.hold_freed_addresses(any); }},
      streams_{scheduler_, settings_.product(), settings_.memory.devices()},
      events_{settings_.product(), settings_.memory.devices()},
      links_{settings_.links, settings_.memory.devices()},
      value_waits_{scheduler_, memory_},
      devices_(settings_.memory.devices()) {
  device_limits[ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE].store(32_KiB);
  device_limits[ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE].store(32_KiB);
}

Status Process::usable() const {
  if (settings_.trouble == nullptr) return done();
  return std::make_unique<Error>(*settings_.trouble);
}

Context* Process::current_by_default() {
  if (Contexts::bound() != nullptr) Contexts::lose();
  const std::int32_t wished = default_device();
  if (wished < 0 || !set_device(wished)) return nullptr;
  return Contexts::current();
}

void Process::announce_opening(std::uint32_t id) {
  {
    const std::lock_guard lock{devices_mutex_};
    Device& device = devices_[id];
    if (device.open || device.opening) return;
    device.opening = true;
  }
  try {
    state_callbacks_.tell(id, ACL_RT_DEVICE_STATE_SET_PRE);
  } catch (...) {  // then the device is not opened, and the next attempt is told of again
    const std::lock_guard lock{devices_mutex_};
    devices_[id].opening = false;
    throw;
  }
}

void Process::open_device(std::uint32_t id) {
  devices_[id].open = true;
  devices_[id].opening = false;
  streams_.device_opened(id);
  opened_a_device_.store(true, std::memory_order_release);
  tell_object(observe::What::DeviceOpened, observe::Object::None, 0, id);
}

Result<std::shared_ptr<Context>> Process::make_context(std::uint32_t device, bool primary) {
  auto group = std::make_shared<schedule::Group>();
  group->device = device;
  using As = Streams::Wish::As;
  ASSIGN_OR_RETURN(const StreamRef stream,
                   streams_.create(group, {.as = primary ? As::DefaultOfPrimary : As::DefaultOfExplicit}));
  std::shared_ptr<Context> context = contexts_.add(primary, group, stream);
  tell_object(observe::What::Created, observe::Object::Context, context->handle, device);
  tell_object(observe::What::Created, observe::Object::Stream, stream->handle, device);
  // Such a function finds the context of its stream current.
  group->call_host = [context = std::weak_ptr<Context>{context}](const std::function<void()>& function) {
    std::shared_ptr<Context> before = Contexts::bind(context.lock());
    function();
    Contexts::bind(std::move(before));
  };
  return context;
}

Status Process::set_device(std::int32_t id) {
  if (Status ready = usable(); !ready) return ready;
  if (!has_device(id)) return bad_device("R-53", id, device_count());
  const auto index = static_cast<std::uint32_t>(id);
  if (!lifecycle_.is_initialised()) {
    observe::note("R-14",
                  [&] { return fmt::format("device {} is used without aclInit, or after aclFinalize", id); });
  }
  announce_opening(index);
  StreamRef made;
  {
    const std::lock_guard lock{devices_mutex_};
    Device& device = devices_[index];
    if (!device.open) open_device(index);
    if (device.primary == nullptr) {
      ASSIGN_OR_RETURN(const std::shared_ptr<Context> primary, make_context(index, true));
      device.primary = primary;
      made = device.primary->default_stream;
    }
    ++device.set_count;
    Contexts::bind(device.primary);
  }
  if (made) state_callbacks_.tell(as_handle(*made), ACL_RT_STREAM_STATE_CREATE_POST);
  state_callbacks_.tell(index, ACL_RT_DEVICE_STATE_SET_POST);
  return done();
}

void Process::end_streams(const Context& context) {
  for (;;) {
    const std::vector<StreamRef> streams = streams_.of_group(*context.group);
    if (streams.empty()) break;
    for (const StreamRef& each : streams)
      state_callbacks_.tell(as_handle(*each), ACL_RT_STREAM_STATE_DESTROY_PRE);
    schedule::Lock lock = scheduler_.lock();
    scheduler_.drain(lock, streams);
    for (const StreamRef& each : streams) {
      if (each->idle()) tell_waited(*each, each->finished.load());
      if (streams_.take(each->handle) == nullptr) continue;  // another thread destroys it
      subscriptions_.drop(scheduler_, *each, lock);
      scheduler_.end(*each, lock);
      streams_.forget(*each);
      tell_object(observe::What::Destroyed, observe::Object::Stream, each->handle, each->device(),
                  !each->is_default);
      if (each->is_default || !settings_.leak_report) continue;
      const std::lock_guard keeping{swept_mutex_};
      swept_.push_back({observe::Object::Stream, each->handle, each->device(), true});
    }
  }
  schedule::Lock lock = scheduler_.lock();
  if (const std::shared_ptr<schedule::HostThread> thread = std::exchange(context.group->host_thread, nullptr))
    thread->close(lock);
}

bool Process::close() {
  for (const std::shared_ptr<Context>& context : contexts_.all()) {
    {
      schedule::Lock lock = scheduler_.lock();
      for (const StreamRef& each : streams_.of_group(*context->group)) scheduler_.clear(*each, lock);
    }
    (void)contexts_.end(context->handle);
    end_streams(*context);
    Contexts::reap(*context);
    tell_object(observe::What::Destroyed, observe::Object::Context, context->handle, context->device,
                !context->primary);
  }
  for (Device& device : devices_) device.primary = nullptr;
  shared_signals_.close();
  const bool is_quiet = scheduler_.retire();
  memory_.close();
  machine_->depart();
  return is_quiet;
}

bool Process::close_if_unused(std::uint32_t id) {
  Device& device = devices_[id];
  if (device.set_count != 0 || device.explicit_contexts != 0 || !device.open) return false;
  device.open = false;
  streams_.device_closed(id);
  tell_object(observe::What::DeviceClosing, observe::Object::None, 0, id);
  memory_.close_device(id);
  tell_object(observe::What::DeviceClosed, observe::Object::None, 0, id);
  return true;
}

Status Process::reset_device(std::int32_t id, bool force) {
  if (Status ready = usable(); !ready) return ready;
  if (!has_device(id)) return bad_device("R-53", id, device_count());
  const auto index = static_cast<std::uint32_t>(id);
  const Stream* inside = schedule::InsideCallback::of_this_thread();
  bool releases = false;
  {
    const std::lock_guard lock{devices_mutex_};
    Device& device = devices_[index];
    if (device.set_count == 0) return reset_too_often(id);
    releases = force || device.set_count == 1;
    if (releases && inside != nullptr && device.primary != nullptr && inside->group == device.primary->group)
      return would_wait_for_itself("R-59");
    device.set_count = force ? 0 : device.set_count - 1;
  }
  if (!releases) return done();
  state_callbacks_.tell(index, ACL_RT_DEVICE_STATE_RESET_PRE);
  bool released = false;
  std::shared_ptr<Context> primary;
  {
    const std::lock_guard lock{devices_mutex_};
    Device& device = devices_[index];
    released = device.set_count == 0;
    if (released) {  // else another thread has set the device meanwhile and goes on with it
      primary = std::exchange(device.primary, nullptr);
      if (primary)
        (void)contexts_.end(primary->handle);  // also unbinds the caller if it was bound to it
    }
  }
  if (!released) return done();
  if (primary) {
    end_streams(*primary);  // without the lock: what is waited for may call us
    Contexts::reap(*primary);
    end_streams(*primary);  // one that another thread made in the last moment
    tell_object(observe::What::Destroyed, observe::Object::Context, primary->handle, index);
  }
  {
    const std::lock_guard lock{devices_mutex_};
    close_if_unused(index);
  }
  state_callbacks_.tell(index, ACL_RT_DEVICE_STATE_RESET_POST);
  return done();
}

Result<Handle> Process::create_context(std::int32_t id) {
  if (Status ready = usable(); !ready) return ready.take_refusal();
  if (!has_device(id)) return bad_device("R-106", id, device_count());
  const auto index = static_cast<std::uint32_t>(id);
  announce_opening(index);
  std::shared_ptr<Context> context;
  {
    const std::lock_guard lock{devices_mutex_};
    if (!devices_[index].open) open_device(index);
    Result<std::shared_ptr<Context>> made = make_context(index, false);
    if (!made) {
      close_if_unused(index);
      return made.take_refusal();
    }
    context = *made;
    ++devices_[index].explicit_contexts;
    Contexts::bind(context);
  }
  state_callbacks_.tell(as_handle(*context->default_stream), ACL_RT_STREAM_STATE_CREATE_POST);
  return context->handle;
}

Status Process::destroy_context(Handle handle) {
  const std::shared_ptr<Context> context = contexts_.find(handle);
  if (context != nullptr && context->primary) {
    return refuse({ACL_ERROR_RT_CONTEXT_NULL, "R-114", "EE1017",
                   fmt::format("{} is the default context of device {}, which only a reset releases",
                               hex(handle), context->device),
                   "", "call aclrtResetDevice for that device"});
  }
  const Stream* inside = schedule::InsideCallback::of_this_thread();
  if (context != nullptr && inside != nullptr && inside->group == context->group)
    return would_wait_for_itself("R-119");
  switch (contexts_.end(handle)) {
    case Contexts::End::Unknown:
      return of_dead_handle(
          refuse({ACL_ERROR_RT_CONTEXT_NULL, "R-115", "EE1017",
                  fmt::format("{} is not a live context", hex(handle)), "",
                  "destroy each context once, with the handle that aclrtCreateContext returned"}),
          history_of_handle(handle));
    case Contexts::End::EndedButBound:
      return of_dead_handle(
          refuse({ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, "R-115", "EE1018",
                  fmt::format("context {} is destroyed already, and another thread is still bound to it",
                              hex(handle)),
                  "", "destroy each context once"}),
          history_of_handle(handle));
    case Contexts::End::Ended:
      break;
  }
  tell_object(observe::What::Destroyed, observe::Object::Context, handle, context->device);
  end_streams(*context);
  Contexts::reap(*context);
  end_streams(*context);  // one that another thread made in the last moment
  const std::lock_guard lock{devices_mutex_};
  --devices_[context->device].explicit_contexts;
  close_if_unused(context->device);
  return done();
}

Status Process::set_current(Handle handle) {
  std::shared_ptr<Context> context = contexts_.find(handle);
  if (context == nullptr) {
    return of_dead_handle(rejected("R-109", "context", hex(handle), "it is not a live context",
                                   "pass a handle from aclrtCreateContext or aclrtGetCurrentContext"),
                          history_of_handle(handle));
  }
  Contexts::bind(std::move(context));
  return done();
}

std::vector<observe::Alive> Process::take_left_over() {
  std::vector<observe::Alive> all;
  {
    const std::lock_guard lock{swept_mutex_};
    all.swap(swept_);
  }
  add_alive(all);
  return all;
}

void Process::add_alive(std::vector<observe::Alive>& all) const {
  using observe::Object;
  streams_.each([&](Handle handle, const Stream& stream) {
    if (!stream.is_default) all.push_back({Object::Stream, handle, stream.device()});
  });
  for (const std::shared_ptr<Context>& context : contexts_.all()) {
    if (!context->primary) all.push_back({Object::Context, context->handle, context->device});
  }
  const auto add_each = [&all](const auto& table, Object object) {
    table.each([&](Handle handle, const auto& one) { all.push_back({object, handle, one.device}); });
  };
  add_each(events_.events, Object::Event);
  add_each(events_.notifies, Object::Notify);
  add_each(events_.counts, Object::CountNotify);
  add_live_data_buffers(all);
}

bool Process::is_set(std::uint32_t device) const {
  const std::lock_guard lock{devices_mutex_};
  return devices_[device].set_count > 0;
}

bool Process::is_open(std::uint32_t device) const {
  const std::lock_guard lock{devices_mutex_};
  return devices_[device].open;
}

aclrtFloatOverflowMode Process::saturation(std::uint32_t device) const {
  const std::lock_guard lock{devices_mutex_};
  return devices_[device].saturation.value_or(has(product().product, Feature::InfNan)
                                                  ? ACL_RT_OVERFLOW_MODE_INFNAN
                                                  : ACL_RT_OVERFLOW_MODE_SATURATION);
}

void Process::set_saturation(std::uint32_t device, aclrtFloatOverflowMode mode) {
  const std::lock_guard lock{devices_mutex_};
  devices_[device].saturation = mode;
}

std::optional<std::uint32_t> Process::core_limit(std::uint32_t device, std::size_t type) const {
  const std::lock_guard lock{devices_mutex_};
  return devices_[device].core_limits[type];
}

void Process::set_core_limit(std::uint32_t device, std::size_t type, std::optional<std::uint32_t> value) {
  const std::lock_guard lock{devices_mutex_};
  devices_[device].core_limits[type] = value;
}

}  // namespace belay
