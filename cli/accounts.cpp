#include "cli/accounts.h"

#include <fmt/format.h>

#include <unordered_map>

#include "cli/trace_frames.h"

namespace belay::cli {
namespace {

using observe::What;
using recording::Record;

bool is_pinned_or_device(const Record& record) { return record.is_block(); }
std::size_t page_index(const Record& record) {
  return record.page_shift < 21 ? 0U : record.page_shift < 30 ? 1U : 2U;
}

void count_other(ProcessAccount& process, const recording::Trace& trace, const Record& record) {
  const bool done = record.what == What::Done;
  if (record.what == What::Submitted) ++process.tasks;
  if (record.what == What::RangeBegun) ++process.ranges;
  if (record.what == What::Copied || (done && observe::is_copy(record.operation))) {
    for (std::size_t way = 0; way < recording::kWays; ++way) {
      if (record.moved[way] != 0) process.copies[way].add(record.moved[way]);
    }
  } else if (record.what == What::Filled || (done && record.operation == observe::Operation::Fill)) {
    process.fills.add(record.bytes);
  } else if (record.what == What::Refused || record.what == What::Failed) {
    std::string function{trace.text(record.process, record.function)};
    if (record.what == What::Failed) function += " (its task)";
    RefusedCalls& calls = process.refused[{harmless(function), record.outcome}];
    if (calls.times++ != 0) return;
    calls.first_ns = record.time_ns;
    calls.rule = harmless(trace.text(record.process, record.rule));
    calls.text = harmless(record.text);
  }
}

void count_block(PlaceAccount& place, const Record& record) {
  if (record.what == What::Allocated) {
    place.made.add(record.bytes);
    place.charged += record.charged();
    place.by_page[page_index(record)].add(record.charged());
    place.used += record.charged();
    if (place.used > place.peak) {
      place.peak = place.used;
      place.peak_ns = record.time_ns;
    }
  } else {
    ((record.flags & observe::Event::kSwept) != 0 ? place.swept : place.freed).add(record.bytes);
    place.returned += record.charged();
    place.used -= std::min(place.used, record.charged());
  }
}

// What was not written down, in sums.
void count_omitted(ProcessAccount& process, const recording::ProcessFacts& facts) {
  for (std::uint32_t place = 0; place < recording::kPlaces; ++place) {
    for (std::size_t page = 0; page < 3; ++page) {
      const recording::Omitted::Blocks& blocks = facts.omitted->blocks[place][page];
      if (blocks.made.times + blocks.freed.times == 0) continue;
      PlaceAccount& to = process.places[place];
      to.made.times += blocks.made.times;
      to.made.bytes += blocks.made.bytes;
      to.freed.times += blocks.freed.times;
      to.freed.bytes += blocks.freed.bytes;
      to.charged += blocks.charged;
      to.returned += blocks.returned;
      to.by_page[page].times += blocks.made.times;
      to.by_page[page].bytes += blocks.charged;
    }
  }
  for (std::size_t way = 0; way <= recording::kWays; ++way) {
    Sum& to = way < recording::kWays ? process.copies[way] : process.fills;
    to.times += facts.omitted->moved[way].times;
    to.bytes += facts.omitted->moved[way].bytes;
  }
  for (const auto& events : facts.omitted->events) process.events += events;
  process.tasks += facts.omitted->events[static_cast<std::size_t>(What::Submitted)];
}

// Who holds what: live blocks, by who made them.
class Holders {
 public:
  Holders(const recording::Trace& trace, Accounts& accounts) : trace_{trace}, accounts_{accounts} {
    processes_.resize(trace.processes().size());
  }

  void see(const Record& record) {
    Process& process = processes_[record.process];
    if (record.what == What::Labelled) {
      if (const auto found = process.alive.find(record.serial); found != process.alive.end())
        relabel(process, found->second, record);
      return;
    }
    if (!is_pinned_or_device(record)) return;
    if (record.what == What::Allocated) {
      Held& by = of_site(process, record);
      by.made.add(record.bytes);
      by.charged += record.charged();
      if (process.freed_early.erase(record.serial) != 0) return;
      process.alive[record.serial] = {&by, record.charged(), record.place()};
      by.alive.add(record.charged());
      PlaceAccount& place = accounts_.processes[record.process].places[record.place()];
      Used& used = process.used[record.place()];
      used.bytes += record.charged();
      if (!used.seen && used.bytes >= place.peak && record.time_ns >= place.peak_ns) {
        used.seen = true;
        for (auto& [key, held] : process.sites) {
          if (key.place == record.place()) held.at_peak = held.alive;
        }
      }
      return;
    }
    const auto found = process.alive.find(record.serial);
    Used& used = process.used[record.place()];
    used.bytes -= std::min(used.bytes, record.charged());
    if (found == process.alive.end()) {
      process.freed_early.insert({record.serial, true});
      return;
    }
    Held& by = *found->second.by;
    --by.alive.times;
    by.alive.bytes -= found->second.charged;
    if ((record.flags & observe::Event::kSwept) != 0) by.left.add(found->second.charged);
    process.alive.erase(found);
  }

  void finish() {
    for (std::uint32_t i = 0; i < processes_.size(); ++i) {
      for (auto& [key, held] : processes_[i].sites) {
        const std::string name = key.label.empty() ? words_of(i, key.site, key.function) : key.label;
        HeldBySite& to = accounts_.processes[i].places[key.place].sites[name];
        const auto add = [](Sum& sum, const Sum& more) {
          sum.times += more.times;
          sum.bytes += more.bytes;
        };
        add(to.made, held.made);
        to.charged += held.charged;
        add(to.at_peak, held.at_peak);
        add(to.left, held.left);
        add(to.left, held.alive);
      }
    }
  }

 private:
  struct Held {
    Sum made, at_peak, left, alive;
    std::uint64_t charged = 0;
  };
  struct Key {
    std::uint32_t place, site, function;
    std::string label;
    auto operator<=>(const Key&) const = default;
  };
  struct Block {
    Held* by;
    std::uint64_t charged;
    std::uint32_t place;
  };
  struct Used {
    std::uint64_t bytes = 0;
    bool seen = false;
  };
  struct Process {
    std::map<Key, Held> sites;
    std::unordered_map<std::uint64_t, Held*> recent;  // by place, site and function
    std::unordered_map<std::uint64_t, Block> alive;
    std::unordered_map<std::uint64_t, bool> freed_early;
    std::map<std::uint32_t, Used> used;
  };

  Held& of_site(Process& process, const Record& record) {
    const std::uint64_t key =
        std::uint64_t{record.place()} << 56 | std::uint64_t{record.site} << 24 | record.function;
    Held*& held = process.recent[key];
    if (held == nullptr) held = &process.sites[{record.place(), record.site, record.function, {}}];
    return *held;
  }
  void relabel(Process& process, Block& block, const Record& record) {
    Held& to = process.sites[{block.place, 0, 0, harmless(record.text)}];
    --block.by->alive.times;
    block.by->alive.bytes -= block.charged;
    to.alive.add(block.charged);
    to.made.add(block.charged);
    to.charged += block.charged;
    block.by = &to;
  }
  std::string words_of(std::uint32_t process, std::uint32_t site, std::uint32_t function) const {
    std::string words = site_words(trace_, process, site);
    if (words.empty()) words = fmt::format("some call of {}", trace_.text(process, function));
    return words;
  }

  const recording::Trace& trace_;
  Accounts& accounts_;
  std::vector<Process> processes_;
};

}  // namespace

Accounts account_for(recording::Trace& trace) {
  name_frames(trace);
  Accounts all;
  all.processes.resize(trace.processes().size());
  for (recording::Records records = trace.records(); const Record* each = records.next();) {
    ProcessAccount& process = all.processes[each->process];
    all.last_ns = std::max(all.last_ns, each->time_ns);
    if (each->kind == recording::Kind::Figures) {
      for (const recording::Figures& figures : each->figures) {
        PlaceAccount& place = process.places[figures.place];
        place.peak_told = std::max(place.peak_told, figures.peak);
      }
      continue;
    }
    ++process.events;
    if (each->is_block())
      count_block(process.places[each->place()], *each);
    else
      count_other(process, trace, *each);
  }
  for (std::size_t i = 0; i < all.processes.size(); ++i)
    count_omitted(all.processes[i], trace.processes()[i]);
  Holders holders{trace, all};
  for (recording::Records records = trace.records(); const Record* each = records.next();) holders.see(*each);
  holders.finish();
  for (ProcessAccount& each : all.processes) all.events += each.events;
  return all;
}

std::string place_name(std::uint32_t place) {
  return place == recording::kHostPlace ? "host, pinned" : fmt::format("device {}", place);
}

}  // namespace belay::cli
