#include "story/story.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/size.h"
#include "story/ranges.h"

namespace belay::story {
namespace {

using recording::Record;
using recording::Trace;

constexpr std::uint64_t kMostMoments = 400, kMostPoints = 24000, kMostGroups = 300, kMostLives = 12000;
constexpr std::uint64_t kMostRefusals = 200, kMostShortages = 8;
constexpr std::int32_t kNoMemory = 207001;

// Sums by device, and of all there is, kept up with the accounts.
class Sums {
 public:
  // The series of a device is found by its place here.
  std::size_t take(const Ledger& ledger, std::uint32_t account) {
    if (before_.size() < ledger.accounts().size()) before_.resize(ledger.accounts().size());
    const Account& now = ledger.accounts()[account];
    const auto [at, is_new] = places_.try_emplace(now.device, devices_.size());
    if (is_new) devices_.push_back({now.device, {}});
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      devices_[at->second].bytes[kind] += now.bytes[kind] - before_[account][kind];
      all_ += now.bytes[kind] - before_[account][kind];
    }
    before_[account] = now.bytes;
    return at->second;
  }
  struct Device {
    std::int32_t device;
    KindBytes bytes;
  };
  const std::vector<Device>& devices() const { return devices_; }
  std::uint64_t all() const { return all_; }

 private:
  std::vector<KindBytes> before_;
  std::map<std::int32_t, std::size_t> places_;
  std::vector<Device> devices_;
  std::uint64_t all_ = 0;
};

class Teller {
 public:
  Teller(Trace& trace, const Progress& progress) : trace_{trace}, progress_{progress} {}

  Story tell() {
    survey();
    find_moments();
    follow();
    return std::move(story_);
  }

 private:
  template <class See>
  void each_record(double from, double part, See&& see) {
    std::uint64_t seen = 0;
    auto records = trace_.records();
    while (const Record* record = records.next()) {
      if (++seen % 262144 == 0) {
        // Before the first reading has ended nobody knows how many there are: about 16 bytes each.
        const std::uint64_t all =
            story_.records != 0 ? story_.records : std::max<std::uint64_t>(trace_.bytes() / 16, 1);
        progress_(from + part * std::min(1.0, static_cast<double>(seen) / static_cast<double>(all)));
      }
      see(*record);
    }
  }

  void survey() {
    std::uint64_t seen = 0;
    each_record(0, 0.25, [&](const Record& record) {
      ++seen;
      story_.duration = std::max(story_.duration, record.time_ns);
      if (record.is_block() || record.kind == recording::Kind::Figures) ++story_.changes;
    });
    story_.records = seen;
  }

  // --- the second reading: curves, peaks, refusals, moments -------------------------------------------

  void find_moments() {
    const Course course{story_.duration, story_.changes};
    Ledger ledger{trace_, places_, story_.names};
    Sums sums;
    struct Drawn {
      Series series;
      Curve curve;
    };
    std::vector<Drawn> by_device, by_account;
    std::map<std::uint64_t, Point> candidates;  // by part of the run
    std::uint64_t change = 0, now = 0, last = 0;
    each_record(0.25, 0.3, [&](const Record& record) {
      now = record.time_ns;
      if (record.kind == recording::Kind::Event && record.what == observe::What::Refused)
        note_refusal(record, change);
      const Change each = ledger.take(record);
      if (!each) return;
      const std::size_t device = sums.take(ledger, each.account);
      const Account& account = ledger.accounts()[each.account];
      if (device == by_device.size())
        by_device.push_back(
            {{.device = account.device, .limit = limit_of(account)}, Curve{course, kPointParts}});
      while (by_account.size() <= each.account) {
        const Account& of = ledger.accounts()[by_account.size()];
        by_account.push_back({{.device = of.device, .process = of.process, .limit = limit_of(of)},
                              Curve{course, kPointParts}});
      }
      by_device[device].curve.add({now, change, sums.devices()[device].bytes});
      by_account[each.account].curve.add({now, change, account.bytes});
      const std::uint64_t part = course.part(change, now, kMostMoments);
      const auto [at, is_new] = candidates.try_emplace(part);
      if (is_new || sums.all() >= at->second.bytes[0]) at->second = {now, change, {sums.all(), 0, 0}};
      last = now;
      ++change;
    });
    story_.all_moments = change <= kMostMoments;
    for (const auto& [part, point] : candidates) moment_at(point.time, point.change);
    if (change != 0) moment_at(last, change - 1).words.emplace_back("the last change");

    // Of devices first, then of processes where several share a device.
    const auto add = [&](Drawn& drawn) {
      drawn.series.peak = drawn.curve.peak();
      drawn.series.points = drawn.curve.finish();
      story_.series.push_back(std::move(drawn.series));
    };
    for (Drawn& drawn : by_device) add(drawn);
    std::ranges::stable_sort(story_.series, {},
                             [](const Series& each) { return each.device < 0 ? INT32_MAX : each.device; });
    for (Drawn& drawn : by_account) {
      const auto sharing = std::ranges::count(by_account, drawn.series.device,
                                              [](const Drawn& each) { return each.series.device; });
      if (sharing > 1) add(drawn);
    }
    for (const Series& each : story_.series) {
      Moment& moment = moment_at(each.peak.time, each.peak.change);
      moment.words.push_back(fmt::format(
          "the peak of {}{}", device_words(each.device),
          each.process == kNone ? ""
                                : fmt::format(" in process {}", trace_.processes()[each.process].process)));
    }
    for (const Refusal& each : story_.refusals) {
      if (change == 0) break;
      Moment& moment = moment_at(each.time, each.change);
      const std::string words = fmt::format("{} was refused here", each.function);
      if (moment.words.empty() || moment.words.back() != words) moment.words.push_back(words);
    }
    for (auto& [number, moment] : moments_) story_.moments.push_back(std::move(moment));
    for (Series& each : story_.series) each.peak_moment = moment_of(each.peak.change);
    for (Refusal& each : story_.refusals) each.moment = change == 0 ? 0 : moment_of(each.change);
  }

  static constexpr std::uint64_t kPointParts = kMostPoints / 16;

  std::string device_words(std::int32_t device) const {
    return device < 0 ? "pinned host memory" : fmt::format("device {}", device);
  }

  std::uint64_t limit_of(const Account& account) const {
    if (account.device < 0) return 0;
    const recording::ProcessFacts& process = trace_.processes()[account.process];
    for (std::size_t i = 0; i < process.device_bytes.size(); ++i) {
      const std::uint32_t real =
          i < process.visible.size() ? process.visible[i] : static_cast<std::uint32_t>(i);
      if (real == static_cast<std::uint32_t>(account.device)) return process.device_bytes[i];
    }
    return 0;
  }

  // A state is told once; what happened later in the same state shares its moment.
  Moment& moment_at(std::uint64_t time, std::uint64_t change) {
    Moment& moment = moments_[change];
    if (moment.time == 0) moment.time = time;
    moment.change = change;
    return moment;
  }
  std::uint32_t moment_of(std::uint64_t change) const {
    const auto at = std::ranges::lower_bound(story_.moments, change, {}, &Moment::change);
    return static_cast<std::uint32_t>(at - story_.moments.begin());
  }

  void note_refusal(const Record& record, std::uint64_t change) {
    ++story_.refused;
    const bool short_of_memory = record.outcome == kNoMemory;
    if (story_.refusals.size() >= kMostRefusals) {
      if (!short_of_memory) return;
      // What memory was missing for is told first.
      const auto other =
          std::ranges::find_if(story_.refusals, [](const Refusal& each) { return each.code != kNoMemory; });
      if (other == story_.refusals.end()) return;
      story_.refusals.erase(other);
    }
    Refusal refusal;
    refusal.time = record.time_ns;
    refusal.bytes = record.bytes;
    refusal.process = record.process;
    refusal.change = change == 0 ? 0 : change - 1;
    refusal.code = record.outcome;
    refusal.function = trace_.text(record.process, record.function);
    refusal.rule = trace_.text(record.process, record.rule);
    refusal.words = record.text;
    story_.refusals.push_back(std::move(refusal));
  }

  // --- the third reading: who held what ----------------------------------------------------------------

  void follow() {
    Ledger ledger{trace_, places_, story_.names};
    std::vector<std::uint64_t> named;
    for (const Moment& each : story_.moments)
      if (!each.words.empty()) named.push_back(each.time);
    Lives lives{story_.duration, std::move(named), kMostLives};
    Lanes lanes{trace_, story_.duration};
    Ranges ranges;
    std::uint64_t change = 0;
    std::size_t moment = 0;
    bool due = false;
    each_record(0.55, 0.4, [&](const Record& record) {
      const std::int32_t device = ledger.device_of(record.process, record.place());
      lanes.take(record, device);
      ranges.take(record, story_.names);
      if (record.kind == recording::Kind::Figures) note_others(ledger, record);
      if (record.kind == recording::Kind::Event && record.what == observe::What::Refused)
        explain(ledger, record, device);
      // A state lasts until the next change; names that blocks get meanwhile belong to it.
      if (due && (record.is_block() || record.kind == recording::Kind::Figures)) {
        snapshot(ledger, static_cast<std::uint32_t>(moment++));
        due = false;
      }
      const Change each = ledger.take(record);
      if (each.what == Change::What::Went) lives.add({each.block, record.time_ns, true, freed_at(record)});
      if (!each) return;
      due = moment < story_.moments.size() && story_.moments[moment].change == change;
      ++change;
    });
    if (due) snapshot(ledger, static_cast<std::uint32_t>(moment));
    ledger.for_each_alive([&](const Block& block) { lives.add({block, 0, false, kNone}); });
    ledger.close();
    story_.accounts = ledger.accounts();
    tell_groups(ledger);
    story_.all_lives = lives.all();
    story_.lives = lives.finish();
    for (const Life& life : story_.lives) story_.group_of_life.push_back(told_[life.block.group]);
    story_.ranges = ranges.finish(story_.duration);
    story_.ranges_left_out = ranges.left_out();
    story_.lanes = lanes.lanes();
    story_.lanes_left_out = lanes.left_out();
    story_.traffic = lanes.traffic();
    story_.waits = lanes.waits();
    story_.any_busy = lanes.any_busy();
    story_.two_busy = lanes.two_busy();
    progress_(1);
  }

  void snapshot(Ledger& ledger, std::uint32_t moment) {
    states_.resize(ledger.groups().size());
    for (const std::uint32_t group : ledger.take_changed()) {
      std::vector<State>& states = states_[group];
      const Held& held = ledger.groups()[group].held;
      if (!states.empty() && states.back().moment == moment) {
        states.back().held = held;
      } else {
        states.push_back({moment, held});
      }
    }
    // What was not written down block by block.
    unknown_.resize(ledger.accounts().size());
    for (std::size_t i = 0; i < ledger.accounts().size(); ++i) {
      const Account& account = ledger.accounts()[i];
      const std::uint64_t all = sum(account.bytes);
      const std::uint64_t unknown = all - std::min(all, account.held.charged);
      std::vector<State>& states = unknown_[i];
      if (unknown == (states.empty() ? 0 : states.back().held.charged)) continue;
      const State state{moment, {.count = 0, .asked = unknown, .charged = unknown}};
      if (!states.empty() && states.back().moment == moment) {
        states.back() = state;
      } else {
        states.push_back(state);
      }
    }
    for (Series& series : story_.series) {
      if (series.peak_moment != moment) continue;
      series.waste = {};
      series.asked = 0;
      for (const Account& account : ledger.accounts()) {
        if (account.device != series.device || (series.process != kNone && account.process != series.process))
          continue;
        series.waste += account.held.waste;
        series.asked += account.held.asked;
      }
    }
  }

  std::uint32_t freed_at(const Record& record) {
    if ((record.flags & observe::Event::kSwept) != 0) return kNone;
    if (const std::uint32_t place = places_.of_site(record.process, record.site); place != kNone)
      return place;
    const std::string_view function = trace_.text(record.process, record.function);
    return function.empty() ? kNone : story_.names.number(function);
  }

  // What the devices had in use beyond the processes that the trace holds, as the last figures said.
  void note_others(const Ledger& ledger, const Record& record) {
    for (const recording::Figures& each : record.figures) {
      if (each.total == 0) continue;
      const std::int32_t device = ledger.device_of(record.process, each.place);
      const std::uint64_t used = each.total - std::min(each.total, each.free);
      others_[device] = used - std::min(used, used_on(ledger, device));
    }
  }
  static std::uint64_t used_on(const Ledger& ledger, std::int32_t device) {
    std::uint64_t used = 0;
    for (const Account& each : ledger.accounts())
      if (each.device == device) used += sum(each.bytes);
    return used;
  }

  void explain(const Ledger& ledger, const Record& record, std::int32_t device) {
    if (record.outcome != kNoMemory || explained_ >= kMostShortages) return;
    const auto refusal = std::ranges::find_if(story_.refusals, [&](const Refusal& each) {
      return !each.shortage && each.code == kNoMemory && each.time == record.time_ns &&
             each.process == record.process;
    });
    if (refusal == story_.refusals.end()) return;
    ++explained_;
    Shortage shortage;
    shortage.device = device;
    shortage.total = limit_of({record.process, device, {}, {}});
    shortage.others = others_[device];
    for (const Account& each : ledger.accounts()) {
      if (each.device != device) continue;
      for (std::size_t kind = 0; kind < kKinds; ++kind) shortage.by_kind[kind] += each.bytes[kind];
      shortage.waste += each.held.waste;
    }
    shortage.used = sum(shortage.by_kind);
    const std::uint64_t taken = shortage.used + shortage.others;
    shortage.free = shortage.total - std::min(shortage.total, taken);
    const auto row = std::ranges::find(
        products(), std::string_view{trace_.processes()[record.process].product}, &ProductRow::key);
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const Page page = static_cast<Page>(kind);
      const bool padded = row != products().end() && pads(api_of(refusal->function), page, *row);
      const std::uint64_t pages = round_down(shortage.free, page_bytes(page));
      const std::uint64_t padding = padded ? row->padding : 0;
      shortage.fits[kind] = pages - std::min(pages, padding);
    }
    refusal->shortage = shortage;
  }

  // --- groups in words ---------------------------------------------------------------------------------

  static std::string policy_words(const Group& group) {
    if (group.key.object != Object::DeviceBlock) return "";
    constexpr std::string_view kPolicies[] = {"HUGE_FIRST", "HUGE_ONLY", "NORMAL_ONLY", "HUGE1G_ONLY"};
    std::string words{kPolicies[group.key.policy >> 4 & 3]};
    if ((group.key.policy & observe::Event::kP2p) != 0) words += "_P2P";
    if ((group.key.policy & observe::Event::kReadOnly) != 0) words += ", read-only";
    return words;
  }

  std::string kind_words(const Group& group) const {
    std::string words{kKindNames[static_cast<std::size_t>(group.key.page)]};
    if (group.key.object == Object::Physical || group.key.object == Object::HostPhysical)
      words += ", physical memory";
    return words;
  }

  GroupTold in_words(const Ledger& ledger, std::uint32_t number) {
    const Group& group = ledger.groups()[number];
    GroupTold told;
    told.account = group.key.account;
    told.function = group.key.function;
    told.policy = story_.names.number(policy_words(group));
    told.kind = kind_words(group);
    const std::uint32_t process = ledger.account_of(group).process;
    told.frames = places_.frames(process, group.site);
    told.label = group.key.label != kNone;
    told.name = told.label                 ? group.key.label
                : group.key.place == kNone ? group.key.function
                                           : group.key.place;
    told.states = std::move(states_[number]);
    told.totals = group;
    return told;
  }

  void tell_groups(const Ledger& ledger) {
    states_.resize(ledger.groups().size());
    unknown_.resize(ledger.accounts().size());
    // By what they held at a moment with a name, and then by what they ever held.
    std::vector<std::pair<std::uint64_t, std::uint32_t>> order;
    for (std::uint32_t i = 0; i < ledger.groups().size(); ++i) {
      const Group& group = ledger.groups()[i];
      order.emplace_back(std::max(group.peak, group.unfreed.charged), i);
    }
    std::ranges::stable_sort(order, std::greater{}, &std::pair<std::uint64_t, std::uint32_t>::first);
    told_.assign(ledger.groups().size(), kNone);
    for (std::size_t i = 0; i < std::min<std::size_t>(order.size(), kMostGroups); ++i) {
      told_[order[i].second] = static_cast<std::uint32_t>(story_.groups.size());
      story_.groups.push_back(in_words(ledger, order[i].second));
    }
    std::map<std::uint32_t, std::uint32_t> rests;  // by account
    for (std::size_t i = kMostGroups; i < order.size(); ++i) {
      const std::uint32_t number = order[i].second;
      const Group& group = ledger.groups()[number];
      const auto [rest, is_new] =
          rests.try_emplace(group.key.account, static_cast<std::uint32_t>(story_.groups.size()));
      if (is_new) story_.groups.push_back(rest_of(group.key.account, "smaller holders together"));
      told_[number] = rest->second;
      add_to(story_.groups[rest->second], group, states_[number]);
      ++story_.groups_left_out;
    }
    for (std::uint32_t i = 0; i < unknown_.size(); ++i) {
      if (unknown_[i].empty()) continue;
      story_.groups.push_back(rest_of(i, "not written down block by block"));
      story_.groups.back().states = std::move(unknown_[i]);
    }
  }

  GroupTold rest_of(std::uint32_t account, std::string_view name) {
    GroupTold told;
    told.account = account;
    told.name = story_.names.number(name);
    told.function = told.policy = story_.names.number("");
    told.kind = "pages of any kind";
    told.is_rest = true;
    return told;
  }

  // Sums of steps: the states of one are added to those of the other, moment by moment.
  static void add_to(GroupTold& rest, const Group& group, const std::vector<State>& states) {
    std::vector<State> both;
    std::size_t a = 0, b = 0;
    Held of_a, of_b;
    while (a < rest.states.size() || b < states.size()) {
      const std::uint32_t moment = std::min(a < rest.states.size() ? rest.states[a].moment : kNone,
                                            b < states.size() ? states[b].moment : kNone);
      if (a < rest.states.size() && rest.states[a].moment == moment) of_a = rest.states[a++].held;
      if (b < states.size() && states[b].moment == moment) of_b = states[b++].held;
      Held held = of_a;
      held.count += of_b.count, held.asked += of_b.asked, held.charged += of_b.charged,
          held.waste += of_b.waste;
      both.push_back({moment, held});
    }
    rest.states = std::move(both);
    Group& totals = rest.totals;
    totals.made += group.made, totals.freed += group.freed, totals.temporary += group.temporary;
    totals.temporary_bytes += group.temporary_bytes, totals.lived_ns += group.lived_ns;
    totals.peak = std::max(totals.peak, group.peak);
    totals.unfreed.count += group.unfreed.count, totals.unfreed.asked += group.unfreed.asked;
    totals.unfreed.charged += group.unfreed.charged;
  }

  Trace& trace_;
  const Progress& progress_;
  Story story_;
  const Places places_{trace_, story_.names};
  std::map<std::uint64_t, Moment> moments_;  // by change
  std::vector<std::vector<State>> states_;   // by group
  std::vector<std::vector<State>> unknown_;  // by account
  std::vector<std::uint32_t> told_;          // group of the ledger -> of the story
  std::map<std::int32_t, std::uint64_t> others_;
  std::uint64_t explained_ = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>>
      callers_;  // of a process's functions
};

}  // namespace

Held GroupTold::at(std::uint32_t moment) const {
  const auto after = std::ranges::upper_bound(states, moment, {}, &State::moment);
  return after == states.begin() ? Held{} : (after - 1)->held;
}

Story tell(recording::Trace& trace, const Progress& progress) { return Teller{trace, progress}.tell(); }

}  // namespace belay::story
