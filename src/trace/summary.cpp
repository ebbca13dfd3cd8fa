#include "trace/summary.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "observe/observe.h"
#include "platform/files.h"
#include "platform/process.h"
#include "trace/run_record.h"
#include "trace/summary_text.h"
#include "trace/tally.h"

namespace belay::trace {
namespace {

struct Kept {
  ProcessRecord* record;
  std::unique_ptr<ProcessRecord> own;  // null: `belay run` has it, and prints it
};
// Of every machine that this process was on. Never destroyed: the last words are said after static
// destructors. Changed while the runtime is made, or at exit.
std::vector<Kept>* g_kept = new std::vector<Kept>;

std::atomic<ProcessRecord*> g_record{nullptr};
std::atomic<Memory*> g_memory{nullptr};

ProcessRecord::Shard& shard_of_this_thread(ProcessRecord& record) {
  static constinit std::atomic<std::size_t> threads{0};
  constinit thread_local std::size_t number = 0;
  if (number == 0) number = threads.fetch_add(1) + 1;
  return record.shards[number % record.shards.size()];
}

void sum_up(const observe::Batch& events) {
  ProcessRecord::Shard& shard = shard_of_this_thread(*g_record.load(std::memory_order_acquire));
  const std::lock_guard lock{shard.mutex};
  shard.tally.count(events);
}

// At once: it keeps the name of the function, which nobody can read once the process is gone.
void take_down_failures(const observe::Batch& events) {
  Failures& failures = g_record.load(std::memory_order_acquire)->failures;
  events.each([&failures](const observe::Told& told) {
    failures.count(told.event.function_name(), told.event.outcome, told.event.what == observe::What::Failed);
  });
}

template <std::size_t kLetters>
void put(std::array<char, kLetters>& to, std::string_view text) {
  std::ranges::copy(text.substr(0, kLetters - 1), to.begin());
}

Where where_is(Memory& memory, const SummaryWish& wish) {
  const MemorySettings& settings = memory.settings();
  Where where;
  put(where.soc, wish.soc);
  put(where.family, settings.product->family);
  where.devices = settings.devices() == 0 ? 0 : wish.devices;
  where.device_bytes = settings.devices() == 0 ? 0 : memory.device(0).pool().total;
  for (std::size_t i = 0; i < settings.devices(); ++i)
    where.visible[i] = static_cast<std::uint8_t>(settings.visible[i]);
  return where;
}

ProcessRecord& record_for(const Where& where, const std::string& run) {
  for (const Kept& kept : *g_kept) {
    if (kept.record->where == where) return *kept.record;
  }
  Kept& kept = g_kept->emplace_back(Kept{place_in_run(run), nullptr});
  if (kept.record == nullptr) {
    kept.own = std::make_unique<ProcessRecord>();
    kept.record = kept.own.get();
  }
  kept.record->process = platform::process_id();
  kept.record->start = platform::start_time(kept.record->process).value_or(0);
  put(kept.record->name, platform::process_name());
  kept.record->where = where;
  return *kept.record;
}

void show_peaks(Memory& memory, ProcessRecord* record) {
  for (std::uint32_t i = 0; i < memory.settings().devices(); ++i)
    memory.device(i).show_peak(record == nullptr ? nullptr : &record->peaks[i]);
  memory.host().show_peak(record == nullptr ? nullptr : &record->peaks[kHostPlace]);
  const auto most = [record](Part part) { return record == nullptr ? nullptr : &record->most_of(part); };
  memory.virtual_memory().show_most(
      {.reserved = most(Part::Reservation), .mapped = most(Part::Mapping), .physical = most(Part::Physical)});
  memory.managed().show_most(most(Part::Managed));
}

}  // namespace

void keep_summary(Memory& memory, const SummaryWish& wish) {
  ProcessRecord& record = record_for(where_is(memory, wish), wish.run);
  g_record.store(&record, std::memory_order_release);
  g_memory.store(&memory, std::memory_order_release);
  show_peaks(memory, &record);
  observe::keep_rings({ring_place, leave_ring_place});
  using observe::What;
  // Submitted as well: a task that somebody hears of from the start can say at its end what it did.
  observe::listen(sum_up, {.wanted = bits(What::Allocated, What::Freed, What::Copied, What::Filled,
                                          What::Submitted, What::Done, What::Created, What::Destroyed)});
  observe::listen(take_down_failures, {.wanted = bits(What::Refused, What::Failed), .at_once = true});
  memory.listeners_changed();
}

void note_traced(std::uint32_t number) {
  if (ProcessRecord* record = g_record.load()) record->traced_as.store(number + 1);
}

void drop_summary() {
  Memory* memory = g_memory.exchange(nullptr);
  if (memory == nullptr) return;
  observe::unlisten(sum_up);
  observe::unlisten(take_down_failures);
  show_peaks(*memory, nullptr);
  memory->listeners_changed();
}

void print_summary() {
  if (g_kept->empty()) return;
  observe::flush();
  std::vector<std::unique_ptr<Tally>> tallies;
  std::vector<ToldBy> told;
  for (const Kept& kept : *g_kept) {
    kept.record->lost.store(observe::lost());
    kept.record->ended.store(true);
    if (kept.own == nullptr) continue;
    kept.record->sum_into(*tallies.emplace_back(std::make_unique<Tally>()));
    told.push_back({*kept.record, *tallies.back()});
  }
  if (!told.empty()) platform::print_line(true, summary_text(told));
}

void forget_summary() {
  g_memory.store(nullptr);
  static auto* of_parents = new std::vector<std::vector<Kept>*>;  // kept reachable, never used again
  of_parents->push_back(std::exchange(g_kept, new std::vector<Kept>));
  forget_run();
}

}  // namespace belay::trace
