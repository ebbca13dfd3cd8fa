#include "check/host_buffers.h"

#include <array>
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/of_process.h"
#include "check/bounds.h"
#include "check/closed_pages.h"
#include "check/done_streams.h"
#include "check/early_access.h"
#include "check/findings.h"
#include "check/gates.h"
#include "check/in_flight.h"
#include "check/kept.h"
#include "check/source_copies.h"
#include "observe/lives.h"
#include "observe/observe.h"
#include "platform/threads.h"

namespace belay::check {
namespace {

using observe::Operation;
using observe::Touch;
using observe::What;

// A pinned block, a registered range or managed memory that queued work used.
struct Extent {
  std::uint32_t reads = 0, writes = 0;  // in flight
  bool ended = false;
  bool kept = false;  // mapped, although it was freed
};

// The part of a task that is in host memory.
struct Part {
  TaskInUse task;
  Touch touch;
  Extent* extent = nullptr;
  std::uint64_t stream = 0;
  bool behind_gate = false;    // it is not known yet what the source should be
  std::uint32_t stack_of = 0;  // the thread on whose stack it is; 0: it is on none
  bool managed = false;        // which host code can use as well
  bool registered = false;     // memory of the program, which it may have unmapped
  bool told = false;           // something about it was reported
  SourceCopies::Copy was;      // when the work was submitted; empty: it is not compared
  ClosedPages::Closing* closing = nullptr;

  SourceCopies::Of owner() const { return registered ? SourceCopies::Of::Program : SourceCopies::Of::Belay; }
};

struct Watched {
  explicit Watched(Memory& of, const HostBufferWishes& wishes) : memory{of}, wants{wishes} {}
  Memory& memory;
  const HostBufferWishes wants;
  std::atomic<std::size_t> on_stacks{0};
  std::mutex mutex;
  SourceCopies sources;
  DoneStreams streams;
  InFlight<Part> work;
  std::unordered_map<std::uint64_t, Extent> extents;
  Gates gates;
  struct Record {
    std::uint64_t serial = 0;
    bool gated = false;
  };
  std::array<Record, 1024> records{};         // that were submitted: of each place the last
  std::size_t behind_gates = 0;               // parts
  std::unordered_set<std::uint32_t> told_of;  // sites of work whose source was changed

  auto how_far() {
    return [this](std::uint64_t stream) { return streams.position(stream); };
  }
};
std::atomic<Watched*> g_watched{nullptr};

// What to do when the lock is given back.
struct Later {
  std::vector<Finding> findings;
  std::vector<std::uint64_t> unmapped;  // extents

  void carry_out(Memory& memory) const {
    for (const std::uint64_t each : unmapped) memory.host().let_go(each);
    for (const Finding& each : findings) report_finding(each);
  }
};

bool meet(const Touch& one, const Touch& other) {
  return one.address < end_of(other) && other.address < end_of(one);
}

bool is_pinned_block(Watched& watched, const Touch& touch) {
  struct Asked {
    std::uint64_t extent = 0;
    bool is_block = false;
  };
  constinit thread_local Asked last;  // what an extent is never changes
  if (last.extent != touch.extent)
    last = {touch.extent, watched.memory.host().block_around(touch.address).has_value()};
  return last.is_block;
}

// Where the program's stack ends, that called us: above the address that the call returns to. Copies of that
// address may lie further down, which only makes frames count as alive for longer.
__attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) std::uintptr_t end_of_frames(
    const platform::StackRange& stack) {
  constexpr std::size_t kFar = 16'384;
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const std::uintptr_t caller = observe::t_call.caller;
  if (!observe::t_call.inside || caller == 0) return here;
  for (std::uintptr_t at = here; at < here + kFar && at + sizeof at <= stack.end; at += sizeof at) {
    std::uintptr_t word = 0;
    __builtin_memcpy(&word, reinterpret_cast<const void*>(at), sizeof word);
    if (word == caller) return at + sizeof at;
  }
  return here;
}

// Whether a buffer is a local variable of a function of this thread. Coroutines and signal handlers may run
// on other memory, of which nobody knows what is alive.
bool is_on_stack(const Touch& touch) {
  const platform::StackRange stack = platform::stack_of_this_thread();
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return stack.holds(touch.address) && stack.holds(here) && touch.address > here;
}

// --- what is submitted ----------------------------------------------------------------------------

// A call that is meant to return at once, and waits.
struct Blocking {
  std::uint64_t bytes = 0;  // 0: none
  const char* function = "";
  std::uint32_t site = 0;
  std::chrono::steady_clock::time_point since;
};
constinit thread_local Blocking t_blocking;

struct BlockedCalls {
  std::mutex mutex;
  std::map<std::pair<std::uint32_t, const char*>, BlockedPlace> places;
};
constinit OfProcess<BlockedCalls> g_blocked;

// With the lock.
bool is_gate(const Watched& watched, const observe::Told& told) {
  switch (told.event.operation) {
    case Operation::HostFunction:
    case Operation::Callback:
    case Operation::WaitValue:
    case Operation::WaitNotify:
    case Operation::WaitCount:
      return true;
    case Operation::WaitEvent: {  // of a record that is still to come, or is behind a gate itself
      const Watched::Record& record = watched.records[told.details->record % watched.records.size()];
      return record.serial != told.details->record || record.gated;
    }
    default:
      return false;
  }
}

void leave(Watched& watched, const Part& part) {
  --(part.touch.writes ? part.extent->writes : part.extent->reads);
  if (part.stack_of != 0) --watched.on_stacks;
  if (part.behind_gate) --watched.behind_gates;
  if (part.closing != nullptr) g_closed_pages.end(part.closing);
}

void end_part(Watched& watched, const Part& part, Later& later) {
  Extent& extent = *part.extent;
  leave(watched, part);
  if (!extent.ended || extent.reads + extent.writes != 0) return;
  if (extent.kept) later.unmapped.push_back(part.touch.extent);
  watched.extents.erase(part.touch.extent);
}

// What the source is now is what it has to be until the program waited, unless queued work changes it as
// well.
void take_source(Watched& watched, Part& part) {
  bool written = false;
  if (part.extent->writes != 0) {
    watched.work.for_each([&](const Part& other) {
      written = written || (other.touch.writes && meet(other.touch, part.touch));
    });
  }
  if (!written) part.was = watched.sources.take(part.touch, part.owner());
}

// A task is done that had to be waited for: what is behind it is as it should be now.
void open_gate(Watched& watched, const observe::Told& told) {
  watched.gates.drop(told.event.serial);
  const std::uint64_t stream = told.details->stream;
  if (watched.behind_gates == 0 || watched.gates.any(stream)) return;
  watched.work.for_each([&](Part& part) {
    if (part.stream != stream || !std::exchange(part.behind_gate, false)) return;
    --watched.behind_gates;
    if (!part.extent->ended) take_source(watched, part);
  });
}

// With the lock.
void close_destination(Watched& watched, Part& part) {
  if (!watched.wants.accesses || !part.touch.writes) return;
  HostFacts facts;
  Destination destination{part.touch, part.task, 0, part.managed ? Object::Managed : Object::HostBlock};
  if (part.managed) {
    const std::optional<ManagedMemory::Range> range = watched.memory.managed().find(part.touch.address);
    if (!range) return;
    facts.start = range->start;
    facts.asked = range->asked;
    facts.bytes = range->bytes;
    destination.made_at = observe::made_at(Object::Managed, range->serial);
  } else {
    const std::optional<HostFacts> block = watched.memory.host().block_around(part.touch.address);
    if (!block) return;  // registered memory is the program's
    facts = *block;
    destination.made_at = block->made_at;
  }
  part.closing = g_closed_pages.close(destination, facts);
}

void add_part(Watched& watched, const observe::Told& told, const Touch& touch, Later& later) {
  const observe::Event& event = told.event;
  Part part;
  part.task = {event.serial, event.function_name(), event.site};
  part.touch = touch;
  part.stream = told.details->stream;
  part.managed = watched.memory.managed().covers(touch.address);
  part.registered = !part.managed && !is_pinned_block(watched, touch);
  if (part.registered && is_on_stack(touch)) part.stack_of = event.thread;
  const std::lock_guard lock{watched.mutex};
  watched.streams.add(part.stream);
  Extent& extent = watched.extents[touch.extent];
  part.extent = &extent;
  if (watched.wants.changes && touch.writes &&
      extent.reads != 0) {  // what other queued work reads may change
    watched.work.for_each([&](Part& other) {
      if (other.was && meet(other.touch, touch)) other.was.drop();
    });
  }
  if (watched.wants.changes && !touch.writes && observe::is_copy(event.operation)) {
    part.behind_gate = watched.gates.any(part.stream);
    if (!part.behind_gate) take_source(watched, part);
  }
  ++(touch.writes ? extent.writes : extent.reads);
  if (part.stack_of != 0) ++watched.on_stacks;
  if (part.behind_gate) ++watched.behind_gates;
  close_destination(watched, part);
  if (const std::optional<Part> forgotten =
          watched.work.add(part.stream, told.details->position, std::move(part)))
    end_part(watched, *forgotten, later);
}

void submit(Watched& watched, const observe::Told& told, Later& later) {
  const observe::Event& event = told.event;
  if (told.details == nullptr) return;
  if (event.operation == Operation::RecordEvent) {
    const std::lock_guard lock{watched.mutex};
    watched.records[told.details->record % watched.records.size()] = {
        told.details->record, watched.gates.any(told.details->stream)};
    return;
  }
  if (event.operation >= Operation::WaitValue) {
    const std::lock_guard lock{watched.mutex};
    if (is_gate(watched, told)) watched.gates.add(event.serial, told.details->stream);
  } else if (event.operation == Operation::CopyByDescriptor || event.operation == Operation::CopyByOffset) {
    const std::lock_guard lock{watched.mutex};  // nobody knows yet where it writes
    watched.work.for_each([](Part& each) { each.was.drop(); });
  }
  if (event.operation == Operation::CopyTaken) return;  // during the call (M-269)
  t_blocking.bytes = 0;
  for (const Touch& each : told.touches) {
    if (each.on_device || each.bytes == 0 || each.rows == 0) continue;
    if (each.extent == 0) {
      if (watched.wants.hints && observe::is_copy(event.operation))
        t_blocking = {event.bytes, event.function_name(), event.site, std::chrono::steady_clock::now()};
      continue;
    }
    // Managed memory and that of devices has checks of its own, also where host and device are one; but for
    // host code that uses managed memory while work writes there (V-275).
    if (!watched.wants.buffers || watched.memory.is_device_address(each.address) ||
        (watched.memory.managed().covers(each.address) && !(watched.wants.accesses && each.writes)))
      continue;
    add_part(watched, told, each, later);
  }
}

// --- what is not in flight any more ---------------------------------------------------------------

// One change of a buffer is one mistake, however many copies of it were waited for.
bool tell_change(Watched& watched, const observe::Event& event, const Part& part, Later& later) {
  if (!part.was || part.told || part.extent->ended) return false;
  const std::optional<std::uintptr_t> first =
      watched.sources.first_change(part.was, part.touch, part.owner());
  if (!first) return false;
  // The mistake is where the work was submitted, whoever found out.
  if (part.task.site != 0 && !watched.told_of.insert(part.task.site).second) return true;
  later.findings.push_back(
      host_buffer_changed(event.function_name(), event.site, part.touch, *first, part.task));
  return true;
}

void look_at_stacks(Watched& watched, const observe::Event& event, Later& later) {
  if (watched.on_stacks.load(std::memory_order_relaxed) == 0 || event.actor != observe::Actor::Thread) return;
  const platform::StackRange stack = platform::stack_of_this_thread();
  const std::uintptr_t alive_from = end_of_frames(stack);
  if (!stack.holds(alive_from)) return;
  const std::lock_guard lock{watched.mutex};
  watched.work.for_each([&](Part& part) {
    if (part.stack_of != event.thread || part.told || part.touch.address >= alive_from) return;
    part.told = true;
    later.findings.push_back(host_buffer_out_of_frame(event.function_name(), event.site, part.touch.address,
                                                      end_of(part.touch) - part.touch.address,
                                                      part.touch.writes, part.task));
  });
}

void end_blocking() {
  const Blocking was = std::exchange(t_blocking, {});
  const auto took = std::chrono::steady_clock::now() - was.since;
  const auto ns = static_cast<std::uint64_t>(std::chrono::nanoseconds{took}.count());
  BlockedCalls& all = g_blocked.get();
  const std::lock_guard lock{all.mutex};
  BlockedPlace& place = all.places[{was.site, was.function}];
  ++place.calls;
  place.bytes += was.bytes;
  place.ns += ns;
  place.most_ns = std::max(place.most_ns, ns);
}

void wait(Watched& watched, const observe::Told& told, Later& later) {
  if (t_blocking.bytes != 0) end_blocking();
  const observe::Details& details = *told.details;
  const std::lock_guard lock{watched.mutex};
  std::optional<Touch> changed;
  watched.work.cover(details.stream, details.position, details.record, [&](const Part& part) {
    if ((!changed || !meet(*changed, part.touch)) && tell_change(watched, told.event, part, later))
      changed = part.touch;
    end_part(watched, part, later);
  });
}

void finish(Watched& watched, const observe::Told& told) {
  const observe::Details& details = *told.details;
  const std::lock_guard lock{watched.mutex};
  switch (told.event.operation) {
    case Operation::RecordEvent:
      return watched.work.recorded(details.stream, details.position, details.record);
    case Operation::RecordNotify:
    case Operation::ChangeCount:
      return watched.work.set(details.stream, details.position, details.object);
    case Operation::WaitEvent:
      open_gate(watched, told);
      return watched.work.joined(details.stream, details.record, watched.how_far());
    case Operation::WaitNotify:
    case Operation::WaitCount:
      open_gate(watched, told);
      return watched.work.awaited(details.stream, details.object);
    case Operation::WaitValue:  // anything that is done may have written the word
      open_gate(watched, told);
      return watched.work.joined_all(details.stream, watched.how_far());
    default:
      open_gate(watched, told);
      return;
  }
}

void drop(Watched& watched, const observe::Told& told, Later& later) {
  const std::lock_guard lock{watched.mutex};
  open_gate(watched, told);
  watched.work.drop(told.details->stream, told.details->position,
                    [&](const Part& part) { end_part(watched, part, later); });
}

// --- what is given back ---------------------------------------------------------------------------

void give_back(Watched& watched, const observe::Event& event, Later& later) {
  if ((event.flags & observe::Event::kSwept) != 0) return;
  const std::lock_guard lock{watched.mutex};
  const auto found = watched.extents.find(event.serial);
  if (found == watched.extents.end()) return;
  Extent& extent = found->second;
  if (extent.reads + extent.writes == 0) {
    watched.extents.erase(found);
    return;
  }
  extent.ended = true;
  if (event.object != Object::Registration) g_closed_pages.open_block(event.address);
  if (event.object == Object::Managed) return;  // told by another check (in_use.h)
  if (event.object == Object::HostBlock) {
    extent.kept = true;
    watched.memory.host().keep_mapped(event.serial);
  }
  const Part* first = nullptr;
  bool told_already = false;
  watched.work.for_each([&](Part& part) {
    if (part.touch.extent != event.serial) return;
    if (first == nullptr || part.task.number < first->task.number) first = &part;
    told_already = told_already || std::exchange(part.told, true);
  });
  if (first == nullptr || told_already) return;
  later.findings.push_back(host_buffer_freed(event.function_name(), event.site, event.object, event.address,
                                             event.bytes, observe::made_at(event.object, event.serial),
                                             first->touch.writes, first->task));
}

void end_stream(Watched& watched, std::uint64_t stream, Later& later) {
  const std::lock_guard lock{watched.mutex};
  watched.streams.destroyed(stream);
  watched.work.ended(stream, [&](const Part& part) { end_part(watched, part, later); });
}

void hear(const observe::Batch& events) {
  Watched* watched = g_watched.load(std::memory_order_acquire);
  if (watched == nullptr) return;
  events.each([&](const observe::Told& told) {
    const observe::Event& event = told.event;
    if (watched->wants.accesses) {
      g_closed_pages.take_back();
      // Work is done under the lock of the scheduler, where nothing is written.
      if (event.actor != observe::Actor::Stream) tell_early_accesses();
    }
    Later later;
    switch (event.what) {
      case What::Submitted:
        look_at_stacks(*watched, event, later);
        submit(*watched, told, later);
        break;
      case What::Done:
        // Most work is a copy or a fill, of which nothing follows until somebody waits for it.
        if (told.details == nullptr) return;
        if (!told.touches.empty()) watched->streams.done(told.details->stream, told.details->position);
        if (event.operation < Operation::WaitValue) return;
        finish(*watched, told);
        break;
      case What::Failed:
      case What::Dropped:
        if (told.details != nullptr) drop(*watched, told, later);
        break;
      case What::Waited:
        look_at_stacks(*watched, event, later);
        if (told.details != nullptr) wait(*watched, told, later);
        break;
      case What::GivenBack:
        if (event.object == Object::HostBlock) give_back(*watched, event, later);
        break;
      case What::Destroyed:
        if (event.object == Object::Registration || event.object == Object::Managed)
          give_back(*watched, event, later);
        if (event.object == Object::Stream) end_stream(*watched, event.serial, later);
        break;
      default:
        return;
    }
    later.carry_out(watched->memory);
  });
}

}  // namespace

void watch_host_buffers(Memory& memory, const HostBufferWishes& wishes) {
  if (!wishes.buffers && !wishes.hints) return;
  g_watched.store(make_anew<Watched>(memory, wishes), std::memory_order_release);
  observe::Mask wanted = observe::bits(What::Submitted, What::Done, What::Failed, What::Dropped, What::Waited,
                                       What::GivenBack, What::Destroyed);
  if (wishes.accesses) {
    wanted |= observe::bits(What::Copied, What::Filled);  // a call has used what was lent to it
    watch_early_accesses();
  }
  observe::listen(hear, {.wanted = wanted, .at_once = true});
}

void stop_watching_host_buffers() {
  observe::unlisten(hear);
  g_watched.store(nullptr);
  tell_early_accesses();
  g_closed_pages.end_all();
}

bool watches_host_buffers() {
  const Watched* watched = g_watched.load(std::memory_order_acquire);
  return watched != nullptr && watched->wants.buffers;
}

void report_blocked_calls() {
  BlockedCalls& all = g_blocked.get();
  const std::lock_guard lock{all.mutex};
  for (const auto& [at, place] : all.places) report_finding(call_blocked(at.second, at.first, place));
  all.places.clear();
}

void forget_blocked_calls() { g_blocked.set_aside(); }

}  // namespace belay::check
