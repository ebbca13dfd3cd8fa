#include "check/faults.h"

#include <array>
#include <atomic>
#include <span>

#include "check/dead_pointer.h"
#include "check/fault_words.h"
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

// Where in the program the access was made, or what made it.
void add_access(const Toucher& toucher, const platform::Fault& fault, FaultWords& words) {
  const observe::Call& call = observe::t_call;
  if (toucher.in_task) return words.add_stack("the task was submitted", call.task.site);
  std::array<std::uintptr_t, observe::kMostFrames> frames;
  const std::span room{frames.data(), observe::stack_frames()};
  if (!toucher.ours) {
    // The instruction itself, where frames further out are behind the call that they wait for.
    const std::size_t count = platform::stack_at_fault(fault.code, room);
    room[0] += 1;
    return words.add_stack("the access was made", room.first(count));
  }
  if (call.caller == 0) return;
  room[0] = call.caller;
  const std::size_t count =
      room.size() > 1 && platform::walks_quickly() ? platform::call_stack(call.caller, room) : 1;
  words.add_stack("the call was made", room.first(count));
}

// In a signal handler: it reads what can be read without waiting, and writes once.
void explain(const platform::Fault& fault) {
  if (!g_explains.load(std::memory_order_acquire)) return;
  const Toucher toucher = toucher_of(fault);
  Memory* memory = g_memory.load(std::memory_order_acquire);
  const bool checked = is_checked(MisuseClass::Host);
  FaultWords words;
  if (memory != nullptr && memory->is_device_address(fault.address))
    explain_host_touch(*memory, toucher, fault, words);
  else
    explain_dead_pointer(memory, toucher, fault, words);
  if (!words.is_empty() && observe::keeps_sites()) add_access(toucher, fault, words);
  if (!words.is_empty() && checked)
    (void)add_to_verdict(*row_of(Misuse::HostTouch), "", toucher.function == nullptr ? "" : toucher.function,
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
