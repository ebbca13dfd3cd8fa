#include "cli/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/words.h"
#include "cli/accounts.h"
#include "cli/help.h"
#include "cli/table.h"
#include "cli/trace_frames.h"

namespace belay::cli {
namespace {

using Json = nlohmann::ordered_json;
using observe::What;

struct DiffArguments {
  std::string before, after;
  bool json = false;
  std::size_t top = 20;
};

struct Side {
  recording::Trace trace;
  Accounts accounts;
};

void open(Side& side, const std::string& path) {
  if (const std::string why = side.trace.open(path); !why.empty()) throw UsageError{why};
  side.accounts = account_for(side.trace);
}

// All processes together, by device and call site.
struct Both {
  HeldBySite before, after;
  std::int64_t grown() const {
    return static_cast<std::int64_t>(after.at_peak.bytes) - static_cast<std::int64_t>(before.at_peak.bytes);
  }
  bool differs() const {
    return before.made.times != after.made.times || before.made.bytes != after.made.bytes ||
           before.at_peak.bytes != after.at_peak.bytes || before.left.bytes != after.left.bytes;
  }
};
using Sites = std::map<std::pair<std::uint32_t, std::string>, Both>;
using DiffRow = std::pair<std::pair<std::uint32_t, std::string>, Both>;

void add(Sites& sites, const Accounts& accounts, HeldBySite Both::*side) {
  const auto plus = [](Sum& to, const Sum& more) {
    to.times += more.times;
    to.bytes += more.bytes;
  };
  for (const ProcessAccount& process : accounts.processes) {
    for (const auto& [number, place] : process.places) {
      for (const auto& [name, held] : place.sites) {
        HeldBySite& to = sites[{number, name}].*side;
        plus(to.made, held.made);
        plus(to.at_peak, held.at_peak);
        plus(to.left, held.left);
        to.charged += held.charged;
      }
    }
  }
}

// What a program asked for: the first that another run did not ask for in the same place is where they
// diverge.
struct Request {
  std::string words;
  std::uint64_t time_ns = 0;
};
std::optional<Request> next_request(const recording::Trace& trace, recording::Records& records,
                                    std::uint32_t process) {
  while (const recording::Record* each = records.next()) {
    if (each->kind != recording::Kind::Event || each->process != process ||
        each->actor == observe::Actor::Stream)
      continue;
    const bool counts = each->is_block() || each->what == What::Copied || each->what == What::Filled ||
                        each->what == What::Submitted || each->what == What::Created ||
                        each->what == What::Refused;
    if (!counts || (each->flags & observe::Event::kSwept) != 0) continue;
    const std::string where = site_words(trace, process, each->site);
    return Request{fmt::format("{} of {} bytes{}{}", trace.text(process, each->function), each->bytes,
                               each->outcome == 0 ? "" : fmt::format(", refused with {}", each->outcome),
                               where.empty() ? "" : " at " + where),
                   each->time_ns};
  }
  return std::nullopt;
}

struct Divergence {
  std::uint64_t number = 0;  // of the request, from 1
  std::optional<Request> before, after;
};
std::optional<Divergence> first_divergence(Side& before, Side& after) {
  if (before.trace.processes().empty() || after.trace.processes().empty()) return std::nullopt;
  recording::Records a = before.trace.records(), b = after.trace.records();
  for (Divergence at;;) {
    ++at.number;
    at.before = next_request(before.trace, a, 0);
    at.after = next_request(after.trace, b, 0);
    if (!at.before && !at.after) return std::nullopt;
    if (!at.before || !at.after || at.before->words != at.after->words) return at;
  }
}

std::string change(std::int64_t bytes) {
  return fmt::format("{}{}", bytes < 0 ? "-" : "+",
                     amount(static_cast<std::size_t>(bytes < 0 ? -bytes : bytes)));
}
std::int64_t less(std::uint64_t after, std::uint64_t before) {
  return static_cast<std::int64_t>(after) - static_cast<std::int64_t>(before);
}

std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> peaks(const Side& before,
                                                                       const Side& after) {
  std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> all;  // of one process each, the highest
  for (const ProcessAccount& process : before.accounts.processes) {
    for (const auto& [number, place] : process.places)
      all[number].first = std::max(all[number].first, place.peak);
  }
  for (const ProcessAccount& process : after.accounts.processes) {
    for (const auto& [number, place] : process.places)
      all[number].second = std::max(all[number].second, place.peak);
  }
  return all;
}

std::string words_of(const std::optional<Request>& request) {
  return request ? fmt::format("{} ({:.6f} s)", request->words, static_cast<double>(request->time_ns) / 1e9)
                 : std::string{"nothing more"};
}

void print_diff(const DiffArguments& arguments, const Side& before, const Side& after,
                const std::vector<DiffRow>& sites, const std::optional<Divergence>& divergence) {
  Table table{{Align::Left, Align::Right, Align::Right, Align::Right}};
  table.heading({"peak", "before", "after", "change"});
  for (const auto& [number, peak] : peaks(before, after))
    table.row(
        {place_name(number), amount(peak.first), amount(peak.second), change(less(peak.second, peak.first))});
  fmt::print("{} and {}\n{}", harmless(arguments.before), harmless(arguments.after),
             table.text(std::nullopt));
  if (sites.empty()) {
    fmt::print("\nno call site holds more or less, at the peak or at the end\n");
  } else {
    Table grew{{Align::Right, Align::Right, Align::Right, Align::Left}};
    grew.heading({"at the peak", "never freed", "allocations", "where"});
    for (const auto& [key, both] : sites) {
      grew.row({change(both.grown()), change(less(both.after.left.bytes, both.before.left.bytes)),
                fmt::format("{:+}", less(both.after.made.times, both.before.made.times)),
                fmt::format("{}: {}", place_name(key.first), key.second)});
    }
    fmt::print("\n{}", grew.text(output_width()));
  }
  if (divergence) {
    fmt::print("\nthe first that differs is request {} of the first process\n  before: {}\n  after:  {}\n",
               divergence->number, words_of(divergence->before), words_of(divergence->after));
  } else {
    fmt::print("\nthe first processes ask for the same, from the first request to the last\n");
  }
  for (const auto& [side, name] : {std::pair{&before, &arguments.before}, {&after, &arguments.after}}) {
    for (const std::string& each : side->trace.remarks())
      fmt::print("\nnote: {}: {}\n", harmless(*name), harmless(each));
  }
}

void print_json(const DiffArguments& arguments, const Side& before, const Side& after,
                const std::vector<DiffRow>& sites, const std::optional<Divergence>& divergence) {
  Json json;
  json["format"] = "belay-diff";
  json["version"] = 1;
  json["before"] = arguments.before;
  json["after"] = arguments.after;
  json["peaks"] = Json::array();
  for (const auto& [number, peak] : peaks(before, after)) {
    json["peaks"].push_back({{"place", number == recording::kHostPlace ? Json("host") : Json(number)},
                             {"before", peak.first},
                             {"after", peak.second}});
  }
  json["sites"] = Json::array();
  const auto side = [](const HeldBySite& held) {
    return Json{{"allocations", held.made.times},
                {"bytes_at_peak", held.at_peak.bytes},
                {"bytes_never_freed", held.left.bytes}};
  };
  for (const auto& [key, both] : sites) {
    json["sites"].push_back({{"place", key.first == recording::kHostPlace ? Json("host") : Json(key.first)},
                             {"where", key.second},
                             {"before", side(both.before)},
                             {"after", side(both.after)}});
  }
  if (divergence) {
    const auto words = [](const std::optional<Request>& request) {
      return request ? Json(request->words) : Json(nullptr);
    };
    json["first_divergence"] = {{"request", divergence->number},
                                {"before", words(divergence->before)},
                                {"after", words(divergence->after)}};
  }
  std::vector<std::string> remarks = before.trace.remarks();
  for (const std::string& each : after.trace.remarks()) remarks.push_back(each);
  json["remarks"] = remarks;
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

int diff(const DiffArguments& arguments) {
  Side before;
  Side after;
  open(before, arguments.before);
  open(after, arguments.after);
  Sites all;
  add(all, before.accounts, &Both::before);
  add(all, after.accounts, &Both::after);
  std::vector<DiffRow> sites;
  for (const auto& [key, both] : all) {
    if (both.differs()) sites.emplace_back(key, both);
  }
  std::ranges::stable_sort(sites, [](const auto& a, const auto& b) {
    const auto size = [](std::int64_t grown) { return grown < 0 ? -grown : grown; };
    return size(a.second.grown()) > size(b.second.grown());
  });
  const bool same = sites.empty();
  if (!arguments.json && sites.size() > arguments.top)
    sites.erase(sites.begin() + static_cast<std::ptrdiff_t>(arguments.top), sites.end());
  const std::optional<Divergence> divergence = first_divergence(before, after);
  if (arguments.json)
    print_json(arguments, before, after, sites, divergence);
  else
    print_diff(arguments, before, after, sites, divergence);
  return same && !divergence ? kOk : kNothingFound;
}

}  // namespace

Action add_diff(CLI::App& belay) {
  auto arguments = std::make_shared<DiffArguments>();
  CLI::App& app = *belay.add_subcommand("diff", "Compare two traces: what grew, and where they first differ")
                       ->group("Commands");
  app.add_option("BEFORE", arguments->before, "a trace, made by belay run --trace")->required();
  app.add_option("AFTER", arguments->after, "another one")->required();
  app.add_flag("--json", arguments->json, "for tools: all call sites that differ, all figures in bytes");
  app.add_option("--top", arguments->top, "how many call sites are listed")
      ->type_name("N")
      ->capture_default_str();
  set_help(
      app, "belay diff BEFORE AFTER [--json] [--top N]",
      "Call sites are the same if their functions, files and lines are. What holds more at the peak comes "
      "first.\n"
      "Then the first request (an allocation, a free, a copy, ...) of the first process that is another "
      "one.\n\n"
      "Exit code: 0 the programs asked for the same; 1 they differ; 2 a file cannot be read, or wrong "
      "use.\n\n"
      "Examples:\n"
      "  belay run --trace old.trace -- ./my_program --version 1\n"
      "  belay run --trace new.trace -- ./my_program --version 2\n"
      "  belay diff old.trace new.trace");
  return [arguments] { return diff(*arguments); };
}

}  // namespace belay::cli
