#include "story/ledger.h"

#include <algorithm>

namespace belay::story {

using observe::What;
using recording::Record;

Ledger::Ledger(const recording::Trace& trace, const Places& places, Names& names)
    : trace_{&trace}, places_{&places}, names_{&names} {
  for (const recording::ProcessFacts& process : trace.processes()) {
    const auto row = std::ranges::find(products(), std::string_view{process.product}, &ProductRow::key);
    products_.push_back(row == products().end() ? nullptr : &*row);
  }
  alive_.resize(products_.size());
  text_names_.resize(products_.size());
}

Change Ledger::take(const Record& record) {
  if (record.kind == recording::Kind::Figures) return corrected(record);
  if (record.is_block()) return record.what == What::Allocated ? came(record) : went(record);
  if (record.what == What::Labelled) return renamed(record);
  if (!record.parts.empty()) touched(record);
  return {};
}

Change Ledger::came(const Record& record) {
  const std::uint32_t own = account(record.process, device_of(record.process, record.place()));
  const GroupKey key{own,
                     places_->of_site(record.process, record.site),
                     name_of(record.process, record.function),
                     record.flags & kPolicyFlags,
                     kNone,
                     page_of(record.page_shift),
                     record.object};
  Block block{.group = group(key, record.site),
              .thread = record.thread,
              .address = record.address,
              .asked = record.bytes,
              .charged = record.charged(),
              .born = record.time_ns};
  const Api api = record.object == Object::DeviceBlock ? api_of((*names_)[key.function]) : Api::MallocAlign32;
  block.waste = waste_of(block.asked, block.charged, key.page, api, products_[record.process]);
  // The same number twice is a damaged trace; the first one goes as if it had been freed.
  if (const auto before = alive_[record.process].find(record.serial);
      before != alive_[record.process].end()) {
    Record end = record;
    end.what = What::Freed;
    went(end);
  }
  alive_[record.process].emplace(record.serial, block);
  Group& made = groups_[block.group];
  ++made.made;
  made.held.add(block.asked, block.charged, block.waste);
  made.peak = std::max(made.peak, made.held.charged);
  changed(block.group);
  accounts_[own].held.add(block.asked, block.charged, block.waste);
  accounts_[own].bytes[static_cast<std::size_t>(key.page)] += block.charged;
  last_made_[{record.process, record.thread}] = record.serial;
  return {Change::What::Came, own, block};
}

Change Ledger::went(const Record& record) {
  auto& alive = alive_[record.process];
  const auto found = alive.find(record.serial);
  if (found == alive.end()) return {};
  const Block block = found->second;
  alive.erase(found);
  Group& of = groups_[block.group];
  of.held.remove(block.asked, block.charged, block.waste);
  changed(block.group);
  Account& own = accounts_[of.key.account];
  own.held.remove(block.asked, block.charged, block.waste);
  own.bytes[static_cast<std::size_t>(of.key.page)] -= block.charged;
  const bool swept = (record.flags & observe::Event::kSwept) != 0;
  if (swept) {
    of.unfreed.add(block.asked, block.charged, block.waste);
  } else {
    ++of.freed;
    of.lived_ns += record.time_ns - std::min(record.time_ns, block.born);
    // Freed before its thread made anything else: it could have been kept, or never made.
    if (const auto last = last_made_.find({record.process, block.thread});
        last != last_made_.end() && last->second == record.serial) {
      ++of.temporary;
      of.temporary_bytes += block.asked;
    }
  }
  return {Change::What::Went, of.key.account, block, swept};
}

// A block that got a name of its own belongs to those of that name from then on.
Change Ledger::renamed(const Record& record) {
  auto& alive = alive_[record.process];
  const auto found = alive.find(record.serial);
  if (found == alive.end()) return {};
  Block& block = found->second;
  GroupKey key = groups_[block.group].key;
  key.label = names_->number(record.text);
  const std::uint32_t to = group(key, groups_[block.group].site);
  Group& before = groups_[block.group];
  before.held.remove(block.asked, block.charged, block.waste);
  --before.made;
  changed(block.group);
  Group& after = groups_[to];
  ++after.made;
  after.held.add(block.asked, block.charged, block.waste);
  after.peak = std::max(after.peak, after.held.charged);
  changed(to);
  block.group = to;
  return {Change::What::Renamed, key.account, block};
}

namespace {

// What a process has in use is told in all; by kind, only that of all processes. Alone it has all of it, else
// its part.
KindBytes by_kind(const recording::Figures& figures) {
  const std::uint64_t of_all = sum(figures.used);
  if (of_all == figures.mine) return figures.used;
  KindBytes bytes{figures.mine, 0, 0};
  for (std::size_t kind = 1; kind < kKinds && of_all != 0; ++kind) {
    const double share = static_cast<double>(figures.used[kind]) / static_cast<double>(of_all);
    bytes[kind] = std::min(static_cast<std::uint64_t>(share * static_cast<double>(figures.mine)), bytes[0]);
    bytes[0] -= bytes[kind];
  }
  return bytes;
}

}  // namespace

// Where events were left out, the figures that are written every now and then say what there is in all.
Change Ledger::corrected(const Record& record) {
  const recording::ProcessFacts& process = trace_->processes()[record.process];
  const bool complete =
      process.lost == 0 && (process.thinning.empty() || process.thinning[0].time_ns > record.time_ns);
  if (complete) return {};
  Change change;
  for (const recording::Figures& figures : record.figures) {
    const std::uint32_t own = account(record.process, device_of(record.process, figures.place));
    const KindBytes bytes = by_kind(figures);
    if (accounts_[own].bytes == bytes) continue;
    accounts_[own].bytes = bytes;
    change = {Change::What::Corrected, own, {}};
  }
  return change;
}

void Ledger::touched(const Record& record) {
  if (record.what == What::Begun || record.what == What::Done) return;  // told when it was submitted
  for (const recording::Part& part : record.parts) {
    if (part.extent == 0) continue;
    const auto found = alive_[record.process].find(part.extent);
    if (found != alive_[record.process].end()) ++found->second.touches;
  }
}

void Ledger::close() {
  for_each_alive([this](const Block& block) {
    groups_[block.group].unfreed.add(block.asked, block.charged, block.waste);
  });
}

std::vector<std::uint32_t> Ledger::take_changed() {
  for (const std::uint32_t each : changed_) is_changed_[each] = false;
  return std::exchange(changed_, {});
}

void Ledger::changed(std::uint32_t group) {
  if (is_changed_[group]) return;
  is_changed_[group] = true;
  changed_.push_back(group);
}

std::int32_t Ledger::device_of(std::uint32_t process, std::uint32_t place) const {
  if (place == recording::kHostPlace) return kHost;
  const auto& visible = trace_->processes()[process].visible;
  return static_cast<std::int32_t>(place < visible.size() ? visible[place] : place);
}

std::uint32_t Ledger::account(std::uint32_t process, std::int32_t device) {
  const auto [at, is_new] =
      account_numbers_.try_emplace({process, device}, static_cast<std::uint32_t>(accounts_.size()));
  if (is_new) accounts_.push_back({process, device, {}, {}});
  return at->second;
}

std::uint32_t Ledger::group(const GroupKey& key, std::uint32_t site) {
  if (last_group_ != kNone && key == last_key_) return last_group_;
  const auto [at, is_new] = group_numbers_.try_emplace(key, static_cast<std::uint32_t>(groups_.size()));
  if (is_new) {
    groups_.push_back({.key = key, .site = site});
    is_changed_.push_back(false);
  }
  last_key_ = key;
  last_group_ = at->second;
  return last_group_;
}

std::uint32_t Ledger::name_of(std::uint32_t process, std::uint32_t text) {
  std::vector<std::uint32_t>& known = text_names_[process];
  if (text >= known.size()) known.resize(text + 1, kNone);
  if (known[text] == kNone) known[text] = names_->number(trace_->text(process, text));
  return known[text];
}

}  // namespace belay::story
