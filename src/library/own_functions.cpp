// The functions of include/belay/belay.h.
#include <algorithm>
#include <atomic>
#include <string>
#include <vector>

#include "api/absent.h"
#include "api/door.h"
#include "belay/belay.h"
#include "check/early_access.h"
#include "check/findings.h"
#include "check/growth.h"
#include "check/unfetched.h"
#include "library/instance.h"
#include "memory/history.h"
#include "memory/segments.h"
#include "observe/call_sites.h"
#include "observe/stack_words.h"
#include "platform/symbolizer.h"
#include "schedule/host_calls.h"
#include "trace/census.h"

using namespace belay;

namespace {

// What `ask` answers, or `otherwise` where the host has no memory left for it.
template <class Answer, class Ask>
Answer asked(Answer otherwise, Ask&& ask) noexcept {
  try {
    return ask();
  } catch (const std::bad_alloc&) {
    return otherwise;
  }
}

// The same, once blocks are being watched; `otherwise` is also for devices that are not there.
template <class Answer, class Ask>
Answer watched(Answer otherwise, Ask&& ask) noexcept {
  return asked(otherwise, [&] {
    watch_blocks();
    (void)running();
    return ask();
  });
}

std::atomic<int (*)(uint64_t number, belayFrame* frame)> g_describe{nullptr};
bool describe_frame(std::uint64_t number, observe::InterpreterFrame& words) {
  const auto describe = g_describe.load(std::memory_order_acquire);
  belayFrame frame{};
  if (describe == nullptr || describe(number, &frame) != 0 || frame.function == nullptr) return false;
  words = {frame.function, frame.file, frame.line};
  return true;
}

}  // namespace

int belay_end(void) { return answered("belay_end", end_runtime); }

int belay_restart(void) { return answered("belay_restart", restart_runtime); }

uint64_t belay_generation(void) { return generation(); }

uint32_t belay_device_count(void) {
  return asked(0U, [] { return running().device_count(); });
}

void belay_watch(void) {
  (void)asked(false, [] {  // if not now, then at the first question
    watch_blocks();
    return true;
  });
}

int belay_memory_use(int32_t device, belayUse* use) {
  return watched(-1, [&] {
    const std::optional<trace::Held> held = trace::held_on(device);
    if (!held || use == nullptr) return -1;
    *use = {held->blocks, held->bytes, held->peak};
    return 0;
  });
}

int belay_reset_peak(int32_t device) {
  return watched(-1, [&] { return trace::reset_peak(device) ? 0 : -1; });
}

size_t belay_blocks(int32_t device, belayBlock* blocks, size_t room) {
  return watched(std::size_t{SIZE_MAX}, [&] {
    const std::optional<std::vector<trace::LiveBlock>> live = trace::blocks_on(device);
    if (!live) return std::size_t{SIZE_MAX};
    for (std::size_t i = 0; blocks != nullptr && i < std::min(room, live->size()); ++i) {
      const trace::LiveBlock& block = (*live)[i];
      blocks[i] = {block.address, block.asked, block.bytes, block.page, block.serial};
    }
    return live->size();
  });
}

void belay_on_dropped_callback(void (*told)(void (*fn)(void*), void* userData)) {
  schedule::g_told_of_dropped.store(told, std::memory_order_release);
}

int belay_not_run(const char* function) { return belay::absent(function); }

void belay_on_call_site(size_t (*frames)(uint64_t* numbers, size_t room)) {
  observe::g_interpreter_frames.store(frames, std::memory_order_release);
}

size_t belay_findings(size_t from, belayFinding* findings, size_t room) {
  return asked(std::size_t{0}, [&] {
    check::tell_early_accesses();
    std::size_t at = 0;
    const MisuseClasses fail_on = check::check_settings().fail_on;
    check::look_at_findings(from, [&](const check::FoundOnce& found) {
      if (findings == nullptr || at >= room) return;
      const MisuseRow& row = *row_of(found.misuse);
      findings[at++] = {row.id.data(),
                        name_of(row.of).data(),
                        found.rule.c_str(),
                        found.function.c_str(),
                        found.text.c_str(),
                        found.count,
                        (fail_on & bit(row.of)) != 0 ? 1 : 0};
    });
    return check::found_count();
  });
}

uint64_t belay_accept_finding(size_t number, uint64_t times) {
  return asked(std::uint64_t{0}, [&] { return check::accept_finding(number, times); });
}

void belay_end_of_test(void) {
  (void)asked(false, [] {
    observe::flush();
    check::report_unfetched();
    return true;
  });
}

int belay_check_segments(const void* base, const belaySegment* segments, size_t count) {
  return enter("belay_check_segments", [&](Process& process) -> Status {
    if (base == nullptr) return null_pointer("M-47", "base");
    if (segments == nullptr && count != 0) return null_pointer("M-47", "segments");
    std::vector<PlannedSegment> plan(count);
    for (std::size_t i = 0; i < count; ++i) plan[i] = {segments[i].offset, segments[i].bytes};
    return check_segments(process.memory(), reinterpret_cast<std::uintptr_t>(base), plan);
  });
}

void belay_range_push(const char* name) {
  (void)asked(false, [&] {
    (void)running();
    if (observe::wanted(observe::What::RangeBegun))
      observe::deliver({.what = observe::What::RangeBegun, .function = "belay_range_push"}, {}, {},
                       name == nullptr ? "" : name);
    return true;
  });
}

void belay_range_pop(void) {
  observe::quietly(
      [] { observe::publish({.what = observe::What::RangeEnded, .function = "belay_range_pop"}); });
}

int belay_label(const void* address, const char* name) {
  return asked(-1, [&] {
    Process* process = running_if_any();
    if (process == nullptr || name == nullptr) return -1;
    const std::uint64_t block = process->memory().identify(process->memory().locate(address)).extent;
    if (block == 0) return -1;
    if (observe::wanted(observe::What::Labelled))
      observe::deliver({.what = observe::What::Labelled,
                        .serial = block,
                        .address = reinterpret_cast<std::uintptr_t>(address),
                        .function = "belay_label"},
                       {}, {}, name);
    return 0;
  });
}

int belay_trace(const char* file, uint64_t limit) {
  return answered("belay_trace", [&] { return trace_runtime(file, limit); });
}

size_t belay_mark(void) {
  return asked(std::size_t{0}, [] {
    observe::publish({.what = observe::What::Marked, .function = "belay_mark"});
    Process* process = running_if_any();
    if (process == nullptr) {
      check::set_mark_at_nothing();
      return std::size_t{0};
    }
    std::vector<observe::Alive> others;
    process->add_alive(others);
    return check::set_mark(process->memory(), others);
  });
}

size_t belay_block_site(const void* address, char* text, size_t room) {
  return asked(std::size_t{0}, [&]() -> std::size_t {
    Process* process = running_if_any();
    if (process == nullptr) return 0;
    std::vector<Happened> history = history_at(process->memory(), reinterpret_cast<std::uintptr_t>(address));
    for (Happened& each : history)
      each.time_ns = 0;  // where, and not how long ago: the same answer each time
    const std::string words = platform::symbolised(observe::happened_words(history, ""));
    if (text != nullptr && room > 0) {
      const std::size_t count = std::min(words.size(), room - 1);
      std::copy_n(words.begin(), count, text);
      text[count] = '\0';
    }
    return words.size();
  });
}

void belay_on_frame(int (*describe)(uint64_t number, belayFrame* frame)) {
  g_describe.store(describe, std::memory_order_release);
  observe::g_describe_frame.store(describe == nullptr ? nullptr : describe_frame, std::memory_order_release);
}

int belay_stack_frames(void) {
  return running_if_any() == nullptr ? -1 : static_cast<int>(observe::stack_frames());
}

int belay_host_may_touch(const void* address) {
  Process* process = running_if_any();
  if (process == nullptr || process->memory().backing().host_may_touch()) return 1;
  const auto number = reinterpret_cast<std::uintptr_t>(address);
  const Memory& memory = process->memory();
  if (memory.is_device_address(number)) return memory.virtual_memory().is_shown_to_host(number) ? 1 : 0;
  return process->memory().host().is_device_alias(number) ? 0 : 1;
}

int belay_host_may_touch_devices(void) {
  return asked(0, [] { return running().memory().backing().host_may_touch() ? 1 : 0; });
}
