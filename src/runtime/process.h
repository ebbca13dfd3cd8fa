// The runtime of this process: the machine, its devices and contexts, and their order of life.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "memory/memory.h"
#include "product/product.h"
#include "runtime/context.h"
#include "runtime/device.h"
#include "runtime/events.h"
#include "runtime/exceptions.h"
#include "runtime/lifecycle.h"
#include "runtime/links.h"
#include "runtime/settings.h"
#include "runtime/shared_signals.h"
#include "runtime/state_callbacks.h"
#include "runtime/streams.h"
#include "runtime/subscriptions.h"
#include "runtime/value_waits.h"
#include "schedule/scheduler.h"

namespace belay {

class Process {
 public:
  Process(Settings settings, std::unique_ptr<machine::Machine> machine);

  const Settings& settings() const { return settings_; }
  const ProductRow& product() const { return settings_.product(); }
  Status usable() const;  // refused where a setting is wrong
  Memory& memory() { return memory_; }
  const Memory& memory() const { return memory_; }
  machine::Machine& machine() { return *machine_; }
  Lifecycle& lifecycle() { return lifecycle_; }
  schedule::Scheduler& scheduler() { return scheduler_; }
  Streams& streams() { return streams_; }
  Events& events() { return events_; }
  SharedSignals& shared_signals() { return shared_signals_; }
  Subscriptions& subscriptions() { return subscriptions_; }
  Exceptions& exceptions() { return exceptions_; }
  LinkTimes& links() { return links_; }
  ValueWaits& value_waits() { return value_waits_; }
  StateCallbacks& state_callbacks() { return state_callbacks_; }
  std::uint32_t device_count() const { return settings_.memory.devices(); }
  bool has_device(std::int64_t id) const { return id >= 0 && id < device_count(); }
  bool opened_a_device() const { return opened_a_device_.load(std::memory_order_acquire); }

  // Drops all work and ends everything, for a process that starts anew. No other thread may be inside a call.
  // False where a function of the program still runs after a moment, and will come back here.
  bool close();

  // The calling thread's context; sets the configured default device where there is none (M-3, R-30).
  Context* current() {
    Context* context = Contexts::current();
    return context != nullptr ? context : current_by_default();
  }
  void set_default_device(std::int32_t device) { default_device_.store(device); }
  std::int32_t default_device() const { return default_device_.load(); }

  Status set_device(std::int32_t id);
  Status reset_device(std::int32_t id, bool force);

  Result<Handle> create_context(std::int32_t device);
  Status destroy_context(Handle handle);
  Status set_current(Handle handle);
  // What the program has made and not given back: what is alive, and what ended with its context since the
  // last question.
  std::vector<observe::Alive> take_left_over();
  void add_alive(std::vector<observe::Alive>& all) const;  // only the former
  bool is_set(std::uint32_t device) const;
  bool is_open(std::uint32_t device) const;

  // Per-device settings without effect on memory.
  aclrtFloatOverflowMode saturation(std::uint32_t device) const;
  void set_saturation(std::uint32_t device, aclrtFloatOverflowMode mode);
  std::optional<std::uint32_t> core_limit(std::uint32_t device, std::size_t type) const;
  void set_core_limit(std::uint32_t device, std::size_t type, std::optional<std::uint32_t> value);

  // Process-wide options and device limits.
  std::array<std::atomic<std::int64_t>, 4> system_parameters{};
  std::array<std::atomic<std::size_t>, 5> device_limits{};
  std::atomic<std::uint64_t> operator_timeout_us{0};

 private:
  Context* current_by_default();
  Result<std::shared_ptr<Context>> make_context(std::uint32_t device, bool primary);
  void end_streams(const Context& context);  // waits for their work
  void announce_opening(std::uint32_t id);   // by the first thread that comes to it
  void open_device(std::uint32_t id);        // with devices_mutex_ held
  bool close_if_unused(std::uint32_t id);    // with devices_mutex_ held

  Settings settings_;
  std::unique_ptr<machine::Machine> machine_;
  Memory memory_;
  Exceptions exceptions_;
  SharedSignals shared_signals_;  // what follows may still refer to it when it ends
  schedule::Scheduler scheduler_;
  Streams streams_;
  Events events_;
  Subscriptions subscriptions_;
  LinkTimes links_;
  ValueWaits value_waits_;
  Lifecycle lifecycle_;
  StateCallbacks state_callbacks_;
  Contexts contexts_;
  mutable std::mutex devices_mutex_;
  std::vector<Device> devices_;
  std::mutex swept_mutex_;
  std::vector<observe::Alive> swept_;  // kept only where somebody will ask
  std::atomic<std::int32_t> default_device_{-1};
  std::atomic<bool> opened_a_device_{false};
};

// The context of this thread: 107002 without. Another thread may end it at any moment.
inline Result<Context*> current_context(Process& process, const char* rule) {
  if (Context* context = process.current()) return context;
  return no_context(rule);
}

// "Ascend310P3 in the RC form".
inline std::string machine_in_words(const Process& process) {
  const Form form = process.settings().memory.form;
  return form == Form::EP ? process.settings().soc
                          : fmt::format("{} in the {} form", process.settings().soc, name_of(form));
}

// The context check and what follows it (M-418): 107002, then 207000 where the product lacks the function.
inline Status needs_feature(const Process& process, Feature feature, const char* rule = "M-8") {
  if (has(process.product().product, feature)) [[likely]]
    return done();
  return unsupported(rule, fmt::format("{} does not have this function", process.product().family),
                     "choose another product with BELAY_PRODUCT, or do without");
}

// 107017 before the process has opened its first device (V-15).
inline Status needs_opened_device(const Process& process, const char* rule = "V-15") {
  if (process.opened_a_device()) [[likely]]
    return done();
  return refuse({ACL_ERROR_RT_INVALID_HANDLE, rule, "EE1018", "no device has been opened in this process yet",
                 "", "call aclrtSetDevice first"});
}

// Where a call would wait for the stream whose callback makes it.
inline Refusal would_wait_for_itself(const char* rule) {
  return refuse(
      {ACL_ERROR_RT_INTERNAL_ERROR, rule, "EE1018",
       "the call would wait for the stream of the callback that makes it, and so for itself", "",
       "do not synchronise, destroy or reset inside a callback; do it after the callback has returned"});
}

inline Status needs_context(Process& process, const char* rule, Feature feature) {
  if (process.current() == nullptr) return no_context(rule);
  return needs_feature(process, feature);
}

}  // namespace belay
