// The one runtime of this process: made at first use, made anew in a forked child, never destroyed.
//
// Never destroyed, because programs call from static destructors, atexit functions and threads that
// outlive main (C-21, R-44). What must be said at exit is said from a destructor of our own.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "belay/belay.h"
#include "check/checking.h"
#include "check/faults.h"
#include "check/leaks.h"
#include "check/mark_requests.h"
#include "check/notes.h"
#include "config/settings.h"
#include "library/instance.h"
#include "memory/reader_guard.h"
#include "observe/call_sites.h"
#include "platform/environment.h"
#include "platform/files.h"
#include "platform/modules.h"
#include "platform/process.h"
#include "platform/symbolizer.h"
#include "report/log.h"
#include "report/messages.h"
#include "runtime/data_buffers.h"
#include "trace/census.h"
#include "trace/recorder.h"
#include "trace/summary.h"

namespace belay {

constinit std::atomic<Process*> g_process{nullptr};

namespace {
// There from the start, without a guard that a fork could find half-way.
constinit std::mutex g_making;
constinit std::atomic<bool> g_rests_at_exit{false};
constinit std::atomic<bool> g_watched{false};
constinit platform::SaidBy g_noted_by{0}, g_misset_by{0}, g_untraced_by{0};
constinit std::atomic<std::uint64_t> g_generation{0};
constinit std::atomic<bool> g_parent_used_it{false};  // this process was forked by one that had made calls

// In the child of a fork: the parent's devices, contexts and messages are not ours.
void start_afresh() {
  static auto* of_parents = new std::vector<Process*>;  // kept reachable, never used again
  if (Process* old = g_process.exchange(nullptr)) {
    FastPathState::end(old->memory().number());
    ReaderGuard::forget_other_threads();
    old->memory().backing().abandon();
    old->machine().abandon();
    of_parents->push_back(old);
    g_parent_used_it.store(true);
  }
  observe::forget_parent();
  platform::renew_modules();
  platform::renew_symbolizer();
  trace::drop_census();
  trace::forget_summary();
  trace::forget_trace();
  check::forget_checking();
  ++g_generation;
  new (&g_making) std::mutex;  // another thread of the parent may have held it
  Contexts::bind(nullptr);
  inherit_data_buffers();
  report::forget();
  report::restart_log();
}

// With a wrong setting, or a machine that cannot be joined, there is no device, and every attempt to open one
// says why.
std::unique_ptr<Process> without_devices(Refusal trouble) {
  Settings none;
  none.memory.product = &row_of(Product::A2);
  none.trouble = std::move(trouble);
  none.summary = platform::environment(config::kRunVariable).has_value();  // it did call, and this failed
  none.machine.name = machine::kPrivateName;
  Result<std::unique_ptr<machine::Machine>> alone = machine::Machine::join(none.machine);
  if (!alone) throw std::bad_alloc{};
  return std::make_unique<Process>(std::move(none), std::move(*alone));
}

std::unique_ptr<Process> start_process() {
  Result<Settings> settings = config::read_settings();
  if (!settings) {
    Refusal trouble = settings.take_refusal();
    platform::say_once(g_misset_by, [&] { return fmt::format("{}; {}.", trouble->what, trouble->solution); });
    return without_devices(std::move(trouble));
  }
  Result<std::unique_ptr<machine::Machine>> joined = machine::Machine::join(settings->machine);
  if (!joined) return without_devices(joined.take_refusal());
  if (const std::string& note = (*joined)->note(); !note.empty()) {
    report::log(report::Level::Warning, report::Module::Drv, "instance.cpp", __LINE__, note);
    platform::say_once(g_noted_by, [&] { return note + "."; });
  }
  return std::make_unique<Process>(std::move(*settings), std::move(*joined));
}

// From the first exit handlers on, threads of ours touch nothing that the program may be taking down. Work
// that a thread still waits for is done by it (C-21).
void rest_at_exit() {
  if (Process* process = g_process.load(std::memory_order_acquire)) process->scheduler().stop_at_exit();
}

Process& make_process_locked() {
  if (Process* made = g_process.load()) return *made;
  std::unique_ptr<Process> process = start_process();
  const Settings& settings = process->settings();
  observe::keep_stacks(settings.stack_frames);
  check::start_checking(process->memory(), settings.check);
  g_hear_refusal.store(check::hear_refusal);
  if (settings.check.wants(MisuseClass::Leaks)) check::answer_mark_requests(belay_mark);
  if (settings.stack_frames != 0) platform::prepare_symbolizer();
  if (settings.quarantine != 0) process->memory().set_quarantine(settings.quarantine);
  process->memory().listeners_changed();
  check::log_notes();
  if (settings.fault_report)
    check::explain_faults(process->memory());
  else
    check::stop_explaining(false);
  if (settings.leak_report)
    check::report_leaks(process->memory(), [made = process.get()] { return made->take_left_over(); });
  if (settings.summary) {
    trace::keep_summary(process->memory(), {settings.soc, settings.machine.devices,
                                            platform::environment(config::kRunVariable).value_or("")});
  }
  if (!settings.trace_file.empty()) {
    const std::string why = trace::keep_trace(
        process->memory(), {settings.trace_file, settings.trace_limit, settings.soc, settings.stack_frames});
    if (!why.empty()) platform::say_once(g_untraced_by, [&] { return "no trace is kept: " + why; });
  }
  if (g_watched.load()) trace::keep_census(process->memory());
  if (!g_rests_at_exit.exchange(true)) (void)std::atexit(rest_at_exit);
  g_process.store(process.get(), std::memory_order_release);
  return *process.release();
}

// A process that is forked has nothing of its parent's, and `aclInit` is asked for before everything
// else. aclrtSetDevice looks for itself, each time.
void look_at_first_call() {
  const std::string_view function = observe::t_call.function;
  if (!observe::t_call.inside || function.empty()) return;
  if (g_parent_used_it.exchange(false)) {
    observe::note("R-69", [] {
      return std::string{
          "this process was forked by one that had used AscendCL; devices, contexts, memory and handles of "
          "the parent "
          "do not exist in it"};
    });
    return;
  }
  constexpr std::array<std::string_view, 4> kFirst{"aclInit", "aclInitCallbackRegister", "aclrtSetDevice",
                                                   "aclFinalize"};
  const bool asks_only = function.find("Get") != std::string_view::npos;
  if (!asks_only && std::ranges::find(kFirst, function) == kFirst.end()) {
    observe::note(
        "R-14", [&] { return fmt::format("{} is the first call, before aclInit or without it", function); });
  }
}

// A thread that a dying runtime has just woken may still have a few steps to go in it, so its tables are kept
// for a while; and for ever, where a function of the program does not return.
void reap(std::unique_ptr<Process> process, bool is_quiet) {
  constexpr std::size_t kKept = 16;
  static auto* ended = new std::deque<std::unique_ptr<Process>>;
  static auto* still_running = new std::vector<std::unique_ptr<Process>>;
  if (!is_quiet) {
    still_running->push_back(std::move(process));
    return;
  }
  ended->push_back(std::move(process));
  if (ended->size() > kKept) ended->pop_front();
}

// While the library is loaded: a fork during the very first call must be seen too.
__attribute__((constructor)) void watch_forks() { platform::in_forked_child(start_afresh); }

__attribute__((destructor)) void report_at_exit() {
  trace::end_trace();
  trace::print_summary();
  if (const Process* process = g_process.load(std::memory_order_acquire);
      process != nullptr && process->settings().leak_report)
    check::report_leaks_at_exit();
  const int code = check::end_checking();
  report::end_log();
  if (code != 0) platform::end_process_at_once(code);
}

// With g_making held.
void end_process() {
  Process* old = g_process.load();
  if (old != nullptr) {
    check::stop_explaining(old->settings().fault_report);
    check::stop_reporting_leaks();
    g_hear_refusal.store(nullptr);
    check::stop_checking();
    trace::drop_summary();
    trace::rest_trace();
    const bool is_quiet = old->close();  // functions of the program that are waited for still find it
    g_process.store(nullptr, std::memory_order_release);
    trace::drop_census();
    trace::drop_trace();
    reap(std::unique_ptr<Process>{old}, is_quiet);
  }
  Contexts::bind(nullptr);
  disown_data_buffers();
  report::forget();
  ++g_generation;
}

// It would wait for the function that calls it.
Status not_in_a_callback() {
  if (schedule::InsideCallback::of_this_thread() != nullptr) return would_wait_for_itself("R-143");
  return done();
}

}  // namespace

Status end_runtime() {
  if (Status allowed = not_in_a_callback(); !allowed) return allowed;
  const std::lock_guard lock{g_making};
  end_process();
  return done();
}

Status restart_runtime() {
  if (Status allowed = not_in_a_callback(); !allowed) return allowed;
  const std::lock_guard lock{g_making};
  end_process();
  return make_process_locked().usable();
}

Status trace_runtime(const char* file, std::uint64_t limit) {
  const std::lock_guard lock{g_making};
  if (file == nullptr) {
    trace::rest_trace();
    trace::drop_trace();
    trace::end_trace();
    return done();
  }
  Process& process = make_process_locked();
  if (trace::is_tracing())
    return rejected("", "file", file, "this process is traced already",
                    "end that trace first: belay_trace(NULL, 0)");
  const Settings& settings = process.settings();
  const std::string why = trace::keep_trace(
      process.memory(),
      {file, limit == 0 ? std::uint64_t{1_GiB} : limit, settings.soc, settings.stack_frames, true});
  if (!why.empty()) return rejected("", "file", file, why, "name a file that may be made or replaced");
  return done();
}

std::uint64_t generation() { return g_generation.load(); }

void watch_blocks() {
  if (g_watched.load()) return;
  const std::lock_guard lock{g_making};
  if (g_watched.load()) return;
  if (Process* made = g_process.load()) trace::keep_census(made->memory());
  g_watched.store(true);
}

Process& make_running() {
  Process* made = nullptr;
  {
    const std::lock_guard lock{g_making};
    made = &make_process_locked();
  }
  look_at_first_call();
  return *made;
}

}  // namespace belay
