// The one runtime of this process: made at first use, made anew in a forked child, never destroyed.
//
// Never destroyed, because programs call from static destructors, atexit functions and threads that
// outlive main (C-21, R-44). What must be said at exit is said from a destructor of our own.
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "api/door.h"
#include "check/host_touch.h"
#include "check/leaks.h"
#include "config/settings.h"
#include "platform/process.h"
#include "report/log.h"
#include "report/messages.h"
#include "trace/summary.h"

namespace belay {
namespace {

struct Instance {
  std::unique_ptr<Process> process;
  Refusal trouble;
};

std::atomic<Instance*> g_instance{nullptr};
std::mutex& making() {
  static auto* mutex = new std::mutex;
  return *mutex;
}

// In the child of a fork: the parent's devices, contexts and messages are not ours.
void start_afresh() {
  static auto* of_parents = new std::vector<Instance*>;  // kept reachable, never used again
  if (Instance* old = g_instance.exchange(nullptr)) {
    if (old->process != nullptr) old->process->memory().contents().abandon();
    of_parents->push_back(old);
  }
  new (&making()) std::mutex;  // another thread of the parent may have held it
  Contexts::bind(nullptr);
  RangePool::forget_thread_ranges();
  report::forget();
  report::restart_log();
}

Instance* make_instance() {
  const std::lock_guard lock{making()};
  if (Instance* made = g_instance.load()) return made;
  static const bool watched = (platform::in_forked_child(start_afresh), true);
  (void)watched;
  auto instance = std::make_unique<Instance>();
  Result<Settings> settings = config::read_settings();
  if (settings) {
    const Settings chosen = *settings;
    instance->process = std::make_unique<Process>(std::move(*settings));
    Memory& memory = instance->process->memory();
    if (chosen.fault_report) check::explain_host_touches(memory);
    if (chosen.leak_report) check::report_leaks(memory);
    if (chosen.summary) trace::keep_summary(memory);
  } else {
    instance->trouble = settings.take_refusal();
  }
  g_instance.store(instance.get(), std::memory_order_release);
  return instance.release();
}

Instance* instance() {
  Instance* made = g_instance.load(std::memory_order_acquire);
  return made != nullptr ? made : make_instance();
}

__attribute__((destructor)) void last_words() {
  Instance* made = g_instance.load(std::memory_order_acquire);
  if (made == nullptr || made->process == nullptr) return;
  if (made->process->settings().summary) trace::print_summary();
  if (made->process->settings().leak_report) check::report_leaks_at_exit();
}

}  // namespace

Process* running() noexcept {
  try {
    return instance()->process.get();
  } catch (...) {
    return nullptr;
  }
}

Refusal settings_trouble() {
  const Instance* made = instance();
  if (made->trouble == nullptr) return refuse({ACL_ERROR_RT_DEV_SETUP_ERROR, "", "EE9999", "the runtime could not start", "", ""});
  return std::make_unique<Error>(*made->trouble);
}

}  // namespace belay
