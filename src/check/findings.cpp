#include "check/findings.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/of_process.h"
#include "base/words.h"
#include "check/frames.h"
#include "check/suppressions.h"
#include "check/verdict.h"
#include "observe/call_sites.h"
#include "platform/files.h"
#include "platform/process.h"
#include "platform/symbolizer.h"
#include "platform/terminal.h"

namespace belay::check {
namespace {

// The same mistake at the same place: with the same stacks, and of the same function.
using Key = std::tuple<Misuse, std::string, std::string, std::uint32_t, std::vector<std::uint32_t>>;

// What tells findings of one place apart. Leaks differ by what they are; what grows does so again and again.
std::string what_of(const Finding& finding) {
  if (finding.misuse == Misuse::GrownSinceMark) return finding.cure;
  return finding.site == 0 ? finding.headline + finding.values : std::string{};
}

Key key_of(const Finding& finding) {
  std::vector<std::uint32_t> sites;
  for (const Happened& each : finding.before) sites.push_back(each.site);
  return {finding.misuse, finding.rule, finding.function + what_of(finding), finding.site, std::move(sites)};
}

// The same in lines of the source: a compiler may have made several calls out of one.
std::string place_of(const Finding& finding, const std::string& text) {
  std::string place =
      fmt::format("{} {} {} {}", finding.row().id, finding.rule, finding.function, what_of(finding));
  each_frame(text, [&](const Frame& frame) {
    place += fmt::format("\n{}{} {}:{}", frame.of_call ? "" : " ", frame.function, frame.file, frame.line);
  });
  return place;
}

struct State {
  CheckSettings settings;
  std::mutex mutex;
  std::map<Key, std::size_t> numbers;
  std::map<std::string, std::size_t> at_place;  // see place_of
  std::deque<FoundOnce> found;
  std::vector<std::uint32_t> places;  // of the verdict, for each
  std::size_t printed = 0, not_printed = 0, suppressed = 0;
  Suppressions suppressions;
};
constinit OfProcess<State> g_state;
State& state() { return g_state.get(); }
const CheckSettings kNotChecked;
constexpr std::size_t kMostPlaces = 65'536;  // more different ones are not kept, and not told

// What it is in bold, red if it counts, for people at a terminal.
std::string coloured(const std::string& text, bool counts) {
  if (!platform::is_coloured(stderr)) return text;
  const std::size_t end = std::min(text.find('\n'), text.size());
  return fmt::format("\033[1;{}m{}\033[0m{}", counts ? "31" : "33", text.substr(0, end), text.substr(end));
}

void print(State& all, const std::string& text, bool counts) {
  if (!all.settings.log_file.empty()) (void)platform::append_to(all.settings.log_file, text);
  if (all.printed == all.settings.print_limit) {
    if (all.not_printed++ == 0 && all.printed != 0)  // with a limit of 0, somebody else tells them
      platform::print_line(true,
                           fmt::format("belay: {} were printed (--print-limit); more are only counted\n",
                                       counted(all.printed, "finding")));
    return;
  }
  ++all.printed;
  platform::print_line(true, coloured(text, counts));
}

// What signal handlers have found; most programs do not survive the first.
struct FromHandler {
  std::atomic<std::uint32_t> state;  // 0 free, 1 being written, 2 ready, 3 taken
  Misuse misuse;
  std::uint32_t place;
  std::array<char, 32> rule;
  std::array<char, 64> function;
  std::array<char, 8192> text;
};
constinit std::array<FromHandler, 8> g_from_handlers{};

template <std::size_t N>
void put(std::array<char, N>& to, std::string_view from) {
  const std::size_t count = std::min(from.size(), N - 1);
  std::copy_n(from.begin(), count, to.begin());
  to[count] = '\0';
}

// With the lock.
void take_from_handlers(State& all) {
  for (FromHandler& each : g_from_handlers) {
    std::uint32_t ready = 2;
    if (!each.state.compare_exchange_strong(ready, 3)) continue;
    all.found.push_back(
        {each.misuse, each.rule.data(), each.function.data(), platform::symbolised(each.text.data()), 1});
    all.places.push_back(each.place);
  }
}

}  // namespace

void found_in_handler(Misuse misuse, std::string_view rule, std::string_view function,
                      std::string_view text) {
  const std::uint32_t place = add_to_verdict(*row_of(misuse), rule, function, text);
  for (FromHandler& each : g_from_handlers) {
    std::uint32_t is_free = 0;
    if (!each.state.compare_exchange_strong(is_free, 1)) continue;
    each.misuse = misuse;
    each.place = place;
    put(each.rule, rule);
    put(each.function, function);
    put(each.text, text);
    each.state.store(2, std::memory_order_release);
    return;
  }
}

void start_finding(const CheckSettings& settings) {
  State& all = state();
  const std::lock_guard lock{all.mutex};
  const bool other_files =
      all.settings.suppressions != settings.suppressions || all.settings.baseline != settings.baseline;
  all.settings = settings;
  if (!other_files) return;  // a restart, maybe in another directory
  all.suppressions = {};
  if (!settings.suppressions.empty()) all.suppressions.read(settings.suppressions);
  if (!settings.baseline.empty()) all.suppressions.read_baseline(settings.baseline);
}

// Also asked in signal handlers, of processes that nobody checks.
const CheckSettings& check_settings() {
  const State* one = g_state.if_any();
  return one == nullptr ? kNotChecked : one->settings;
}

void report_finding(const Finding& finding) {
  State& all = state();
  const MisuseRow& row = finding.row();
  if (!all.settings.wants(row.of)) return;
  Key key = key_of(finding);
  {
    const std::lock_guard lock{all.mutex};
    if (const auto known = all.numbers.find(key); known != all.numbers.end()) {
      if (known->second == SIZE_MAX) return;
      ++all.found[known->second].count;
      verdict_again(all.places[known->second]);
      return;
    }
  }
  // Without the lock: it takes a while, and another thread may find something else.
  std::string text = platform::symbolised(finding.text());
  const std::lock_guard lock{all.mutex};
  if (all.numbers.size() >= kMostPlaces) return;
  const auto [known, is_new] = all.numbers.try_emplace(std::move(key), SIZE_MAX);
  if (!is_new && known->second == SIZE_MAX) return;
  const auto [same_place, is_elsewhere] = all.at_place.try_emplace(place_of(finding, text), SIZE_MAX);
  if (!is_elsewhere) known->second = same_place->second;
  if (!is_new || !is_elsewhere) {
    if (known->second == SIZE_MAX) return;
    ++all.found[known->second].count;
    verdict_again(all.places[known->second]);
    return;
  }
  if (all.suppressions.covers(row, finding.rule, text)) {
    ++all.suppressed;
    return;
  }
  known->second = same_place->second = all.found.size();
  all.found.push_back({finding.misuse, finding.rule, finding.function, text, 1});
  all.places.push_back(add_to_verdict(row, finding.rule, finding.function, text));
  const bool counts = (all.settings.fail_on & bit(row.of)) != 0;
  print(all, text, counts);
  if (!all.settings.halts || !counts) return;
  platform::print_line(true, "belay: the program is ended here (--halt-on-error)\n");
  platform::end_process_at_once(all.settings.exit_code);
}

std::size_t found_count() {
  State& all = state();
  const std::lock_guard lock{all.mutex};
  take_from_handlers(all);
  return all.found.size();
}

void look_at_findings(std::size_t from, const std::function<void(const FoundOnce&)>& look) {
  State& all = state();
  const std::lock_guard lock{all.mutex};
  take_from_handlers(all);
  for (std::size_t i = from; i < all.found.size(); ++i) look(all.found[i]);
}

std::uint64_t accept_finding(std::size_t number, std::uint64_t times) {
  State& all = state();
  const std::lock_guard lock{all.mutex};
  take_from_handlers(all);
  if (number >= all.found.size()) return 0;
  FoundOnce& found = all.found[number];
  times = std::min(times, found.count);
  found.count -= times;
  verdict_meant(all.places[number], times);
  return found.count;
}

int exit_code_of_findings() {
  State& all = state();
  const std::lock_guard lock{all.mutex};
  take_from_handlers(all);
  const bool fails = std::ranges::any_of(all.found, [&](const FoundOnce& each) {
    return each.count != 0 && (all.settings.fail_on & bit(row_of(each.misuse)->of)) != 0;
  });
  return fails ? all.settings.exit_code : 0;
}

void print_end_of_findings() {
  State& all = state();
  const std::lock_guard lock{all.mutex};
  take_from_handlers(all);
  std::array<std::size_t, kMisuseClasses.size()> places{};
  std::array<std::uint64_t, kMisuseClasses.size()> times{};
  for (const FoundOnce& each : all.found) {
    if (each.count == 0) continue;
    const auto at = static_cast<std::size_t>(row_of(each.misuse)->of);
    ++places[at];
    times[at] += each.count;
  }
  std::string text;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] == 0) continue;
    text += fmt::format("{}{} {}{}", text.empty() ? "" : ", ", places[i], kMisuseClasses[i],
                        times[i] == places[i] ? std::string{} : fmt::format(" ({} times)", times[i]));
  }
  if (text.empty() && all.suppressed == 0) return;
  platform::print_line(
      true,
      fmt::format("belay: findings of process {}: {}{}\n", platform::process_id(),
                  text.empty() ? "nothing" : text,
                  all.suppressed == 0 ? std::string{} : fmt::format("; {} suppressed", all.suppressed)));
}

void forget_findings() {
  g_state.set_aside();
  for (FromHandler& each : g_from_handlers) each.state.store(0);
}

}  // namespace belay::check
