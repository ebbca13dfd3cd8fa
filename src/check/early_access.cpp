#include "check/early_access.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <span>

#include "check/closed_pages.h"
#include "check/fault_words.h"
#include "check/findings.h"
#include "memory/following.h"
#include "observe/call_sites.h"
#include "observe/observe.h"
#include "platform/call_stack.h"
#include "platform/faults.h"

namespace belay::check {
namespace {

// The call of a function such as memcpy is not enough, also where calls have one frame each.
constexpr std::size_t kFrames = 8;

struct Seen {
  enum State : std::uint32_t { kFree, kBeingWritten, kReady, kBeingTold };
  std::atomic<std::uint32_t> state{kFree};
  Destination destination{};
  std::uintptr_t address = 0;
  bool write = false;
  std::size_t returns = 0, others = 0;
  std::array<std::uintptr_t, observe::kMostFrames> frames{};
  std::array<std::uint64_t, observe::kMostFrames> of_interpreter{};
};
constinit std::array<Seen, 32> g_seen;
constinit std::atomic<bool> g_any{false};

Seen* room() {
  for (Seen& each : g_seen) {
    std::uint32_t is_free = Seen::kFree;
    if (each.state.compare_exchange_strong(is_free, Seen::kBeingWritten)) return &each;
  }
  return nullptr;
}

void take_stack(const platform::Fault& fault, Seen& seen) {
  seen.returns = seen.others = 0;
  const std::size_t wanted = observe::stack_frames();
  if (wanted == 0) return;
  const std::size_t most = std::min(std::max(wanted, kFrames), seen.frames.size());
  seen.returns = platform::stack_at_fault(fault.code, std::span{seen.frames}.first(most));
  seen.frames[0] += 1;  // the others are behind the call that they wait for
  // Neither the interpreter nor the heap was in the middle of something: they do not touch this memory.
  const observe::InterpreterFrames ask = observe::g_interpreter_frames.load(std::memory_order_acquire);
  if (ask != nullptr) seen.others = std::min(ask(seen.of_interpreter.data(), most), most);
}

// In a handler, of a process that may end before its next call. What was told before, and suppressions, are
// not looked at: that takes memory.
void tell_at_once() {
  if (!g_any.load(std::memory_order_relaxed)) return;
  for (Seen& each : g_seen) {
    std::uint32_t ready = Seen::kReady;
    if (!each.state.compare_exchange_strong(ready, Seen::kBeingTold)) continue;
    const MisuseRow& row = *row_of(Misuse::HostAccessBeforeWait);
    const TaskInUse& task = each.destination.task;
    FaultWords words;
    words.add(
        "belay: %s: host code %s the destination of queued work that the program has not waited for [%s]\n",
        row.id.data(), each.write ? "wrote to" : "read", name_of(row.of).data());
    words.add_stack(nullptr, {each.frames.data(), each.returns}, {each.of_interpreter.data(), each.others});
    words.add("belay:   0x%lx is byte %lu of what task %lu writes\n", number(each.address),
              number(each.address - each.destination.touch.address), number(task.number));
    words.add_stack("the task was submitted", task.site);
    const char* const rule = rule_of_early_access(each.destination.object);
    words.add("belay:   rule %s; 'belay rule %s' shows it\n", rule, rule);
    found_in_handler(Misuse::HostAccessBeforeWait, rule, "", words.finished());
    words.print();
    each.state.store(Seen::kFree);
  }
}

// By belay: a task, a call, or what a call does besides. Or by a function that a stream calls: what is queued
// behind it waits until it returns.
bool is_ours(const platform::Fault& fault) {
  const observe::Call& call = observe::t_call;
  return call.task.function != nullptr || call.inside || call.stream != 0 || t_following.bytes != 0 ||
         platform::in_this_library(fault.code);
}

// Whether the page was closed by us, and is open now.
bool open_for(const platform::Fault& fault) {
  using Answer = ClosedPages::Answer;
  if (!g_closed_pages.any()) return false;
  Seen* seen = is_ours(fault) ? nullptr : room();
  if (seen == nullptr) return g_closed_pages.lend(fault.address) != Answer::NotOurs;
  const Answer answer = g_closed_pages.give(fault.address, seen->destination);
  if (answer != Answer::Opened) {
    seen->state.store(Seen::kFree);
    return answer == Answer::IsOpen;
  }
  seen->address = fault.address;
  seen->write = fault.write;
  take_stack(fault, *seen);
  seen->state.store(Seen::kReady, std::memory_order_release);
  g_any.store(true, std::memory_order_release);
  return true;
}

// In a signal handler.
bool mend(const platform::Fault& fault) {
  if (open_for(fault)) return true;
  tell_at_once();  // it may be the end
  return false;
}

}  // namespace

void watch_early_accesses() {
  platform::prepare_call_stacks();
  platform::mend_faults(mend);
  platform::observe_aborts(tell_at_once);
}

void tell_early_accesses() {
  if (!g_any.load(std::memory_order_relaxed) || !g_any.exchange(false)) [[likely]]
    return;
  for (Seen& each : g_seen) {
    std::uint32_t ready = Seen::kReady;
    if (!each.state.compare_exchange_strong(ready, Seen::kBeingTold)) continue;
    const std::uint32_t site = observe::site_of_frames({each.frames.data(), each.returns},
                                                       {each.of_interpreter.data(), each.others});
    const Finding finding =
        host_access_before_wait(site, each.destination.touch, each.address, each.write,
                                each.destination.object, each.destination.made_at, each.destination.task);
    each.state.store(Seen::kFree);
    report_finding(finding);
  }
}

void forget_early_accesses() {
  g_closed_pages.forget_parent();
  for (Seen& each : g_seen) each.state.store(Seen::kFree);
  g_any.store(false);
}

}  // namespace belay::check
