#include "check/faults.h"

#include <array>
#include <atomic>
#include <span>

#include "check/dead_pointer.h"
#include "check/fault_words.h"
#include "check/finding.h"
#include "check/findings.h"
#include "check/host_touch.h"
#include "check/verdict.h"
#include "memory/following.h"
#include "observe/call_sites.h"
#include "observe/observe.h"
#include "platform/call_stack.h"

namespace belay::check {
namespace {

std::atomic<bool> g_explains{false};
std::atomic<Memory*> g_memory{nullptr};

Toucher toucher_of(const platform::Fault& fault) {
  const observe::Call& call = observe::t_call;
  if (call.task.function != nullptr)
    return {true, call.task.function, true, call.task.id, static_cast<int>(call.task.stream)};
  if (call.inside) return {true, call.function, false, 0, 0};
  bool inside = t_following.bytes != 0;
  const char* function = inside ? nullptr : platform::function_around(fault.code, inside);
  return {inside, function, false, 0, 0};
}

// Frames of an interpreter that runs on this thread. Only where the program itself faulted at a device
// address: then neither the interpreter nor the heap was in the middle of something.
std::size_t interpreter_frames(std::span<std::uint64_t> room) {
  const observe::InterpreterFrames ask = observe::g_interpreter_frames.load(std::memory_order_acquire);
  return ask == nullptr ? 0 : ask(room.data(), room.size());
}

// Where in the program the access was made, or the call that made it: below a title, or as the place of a
// finding.
void add_access(const Toucher& toucher, const platform::Fault& fault, bool on_device, bool titled,
                FaultWords& words) {
  const observe::Call& call = observe::t_call;
  std::array<std::uintptr_t, observe::kMostFrames> frames;
  const std::span room{frames.data(), observe::stack_frames()};
  if (!toucher.ours) {
    // The instruction itself, where frames further out are behind the call that they wait for.
    const std::size_t count = platform::stack_at_fault(fault.code, room);
    room[0] += 1;
    std::array<std::uint64_t, observe::kMostFrames> others;
    const std::size_t more = on_device ? interpreter_frames({others.data(), observe::stack_frames()}) : 0;
    return words.add_stack(titled ? "the access was made" : nullptr, room.first(count),
                           {others.data(), more});
  }
  if (call.caller == 0) return;
  room[0] = call.caller;
  const std::size_t count =
      room.size() > 1 && platform::walks_quickly() ? platform::call_stack(call.caller, room) : 1;
  words.add_stack(titled ? "the call was made" : nullptr, room.first(count), {});
}

// In a signal handler: it reads what can be read without waiting, and writes once.
void explain(const platform::Fault& fault) {
  if (!g_explains.load(std::memory_order_acquire)) return;
  const Toucher toucher = toucher_of(fault);
  Memory* memory = g_memory.load(std::memory_order_acquire);
  const bool checked = is_checked(MisuseClass::Host);
  const bool on_device = memory != nullptr && memory->is_device_address(fault.address);
  FaultWords words;
  if (on_device)
    explain_host_touch(*memory, toucher, fault, words);
  else
    explain_dead_pointer(memory, toucher, fault, words);
  if (words.is_empty()) return;
  const bool placed = observe::keeps_sites();
  if (checked) {
    const MisuseRow& row = *row_of(Misuse::HostTouch);
    words.make_finding(row.id, headline_of_fault(toucher.ours, on_device, fault.write), name_of(row.of), [&] {
      if (placed && !toucher.in_task) add_access(toucher, fault, on_device, false, words);
    });
  } else if (placed && !toucher.in_task) {
    add_access(toucher, fault, on_device, true, words);
  }
  if (placed && toucher.in_task) words.add_stack("the task was submitted", observe::t_call.task.site);
  if (checked)
    found_in_handler(Misuse::HostTouch, words.rule(), toucher.function == nullptr ? "" : toucher.function,
                     words.finished());
  words.print();
}

}  // namespace

void explain_faults(Memory& memory) {
  g_memory.store(&memory, std::memory_order_release);
  g_explains.store(true, std::memory_order_release);
  platform::observe_faults(explain);
}

void stop_explaining(bool later) {
  g_memory.store(nullptr, std::memory_order_release);
  g_explains.store(later, std::memory_order_release);
}

}  // namespace belay::check
