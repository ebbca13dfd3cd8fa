#include "cli/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/code_names.h"
#include "base/words.h"
#include "cli/accounts.h"
#include "cli/help.h"
#include "cli/table.h"
#include "cli/trace_frames.h"

namespace belay::cli {
namespace {

using Json = nlohmann::ordered_json;

struct StatsArguments {
  std::string file;
  bool json = false;
  std::size_t top = 10;
};

constexpr std::array kWayNames{"host to host", "host to device", "device to host", "device to device"};
constexpr std::array kPageNames{"4 KB", "2 MB", "1 GB"};

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

using Row = std::pair<std::string, const HeldBySite*>;
std::vector<Row> largest(const PlaceAccount& place, Sum HeldBySite::*by, std::size_t most) {
  std::vector<Row> rows;
  for (const auto& [name, held] : place.sites) {
    if ((held.*by).times != 0) rows.emplace_back(name, &held);
  }
  std::ranges::sort(rows, [&](const Row& a, const Row& b) {
    return std::pair{(b.second->*by).bytes, a.first} < std::pair{(a.second->*by).bytes, b.first};
  });
  rows.resize(std::min(rows.size(), most));
  return rows;
}

std::string ending_of(const recording::ProcessFacts& facts) {
  return facts.ended_ns != 0 ? fmt::format("ended after {:.3f} s", seconds(facts.ended_ns - facts.began_ns))
                             : std::string{"still running, or killed"};
}

// --- as text --------------------------------------------------------------------------------------

void print_places(const ProcessAccount& process) {
  Table table{{Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
               Align::Right, Align::Right}};
  table.heading({"", "peak", "at", "blocks", "freed", "not freed", "asked for", "charged"});
  for (const auto& [number, place] : process.places) {
    const std::uint64_t left = place.made.times - std::min(place.made.times, place.freed.times);
    table.row({place_name(number), amount(std::max(place.peak, place.peak_told)),
               fmt::format("{:.3f} s", seconds(place.peak_ns)), fmt::format("{}", place.made.times),
               fmt::format("{}", place.freed.times), fmt::format("{}", left), amount(place.made.bytes),
               amount(place.charged)});
  }
  if (!process.places.empty()) fmt::print("{}", table.text(std::nullopt));
}

void print_holders(const ProcessAccount& process, std::size_t top) {
  for (const auto& [number, place] : process.places) {
    for (const auto& [by, title] :
         {std::pair{&HeldBySite::at_peak, "at the peak"}, {&HeldBySite::left, "never freed"}}) {
      const std::vector<Row> rows = largest(place, by, top);
      if (rows.empty()) continue;
      Table table{{Align::Right, Align::Right, Align::Left}};
      table.heading({"bytes", "blocks", fmt::format("{}, {}", place_name(number), title)});
      for (const auto& [name, held] : rows)
        table.row({amount((held->*by).bytes), fmt::format("{}", (held->*by).times), name});
      fmt::print("\n{}", table.text(output_width()));
    }
  }
}

void print_moves(const ProcessAccount& process, double time) {
  Table table{{Align::Left, Align::Right, Align::Right, Align::Right}};
  table.heading({"copied or filled", "times", "bytes", "a second"});
  const auto add = [&](const char* name, const Sum& sum) {
    if (sum.times == 0) return;
    const std::string rate =
        time > 0 ? amount(static_cast<std::size_t>(static_cast<double>(sum.bytes) / time)) : "";
    table.row({name, fmt::format("{}", sum.times), amount(sum.bytes), rate});
  };
  for (std::size_t way = 0; way < recording::kWays; ++way) add(kWayNames[way], process.copies[way]);
  add("filled", process.fills);
  const bool any = process.fills.times != 0 ||
                   std::ranges::any_of(process.copies, [](const Sum& each) { return each.times != 0; });
  if (any) fmt::print("\n{}", table.text(std::nullopt));
}

void print_refused(const ProcessAccount& process) {
  if (process.refused.empty()) return;
  Table table{{Align::Right, Align::Right, Align::Left}};
  table.heading({"times", "first at", "failed calls"});
  for (const auto& [call, refused] : process.refused) {
    table.row({fmt::format("{}", refused.times), fmt::format("{:.3f} s", seconds(refused.first_ns)),
               fmt::format("{}: {} {}{}{}", call.first, call.second, code_name(call.second),
                           refused.text.empty() ? "" : ": ", refused.text)});
  }
  fmt::print("\n{}", table.text(output_width()));
}

void print_stats(const recording::Trace& trace, const Accounts& accounts, const StatsArguments& arguments) {
  fmt::print(
      "{}: {} of {} in {:.3f} s; {}, {:.1f} bytes an event\n", harmless(arguments.file),
      counted(accounts.events, "event"), counted(accounts.processes.size(), "process", "processes"),
      seconds(accounts.last_ns), amount(trace.bytes()),
      accounts.events == 0 ? 0.0 : static_cast<double>(trace.bytes()) / static_cast<double>(accounts.events));
  for (std::size_t i = 0; i < accounts.processes.size(); ++i) {
    const recording::ProcessFacts& facts = trace.processes()[i];
    const ProcessAccount& process = accounts.processes[i];
    const double time = seconds(facts.last_ns - std::min(facts.last_ns, facts.began_ns));
    fmt::print("\n{} (process {}) on {}, {}: {}{}\n", harmless(facts.name), facts.process,
               harmless(facts.soc), ending_of(facts), counted(process.events, "event"),
               time > 0 ? fmt::format(", {:.0f} a second", static_cast<double>(process.events) / time) : "");
    print_places(process);
    print_holders(process, arguments.top);
    print_moves(process, time);
    print_refused(process);
  }
}

// --- as JSON --------------------------------------------------------------------------------------

Json json_of(const Sum& sum) { return {{"times", sum.times}, {"bytes", sum.bytes}}; }

Json json_of(const PlaceAccount& place, std::uint32_t number, std::size_t top) {
  Json json;
  json["place"] = number == recording::kHostPlace ? Json("host") : Json(number);
  json["peak_bytes"] = place.peak;
  json["peak_bytes_told"] = place.peak_told;
  json["peak_seconds"] = seconds(place.peak_ns);
  json["allocated"] = json_of(place.made);
  json["freed"] = json_of(place.freed);
  json["freed_with_device"] = json_of(place.swept);
  json["charged_bytes"] = place.charged;
  json["returned_bytes"] = place.returned;
  for (std::size_t page = 0; page < kPageNames.size(); ++page)
    json["charged_by_page"][kPageNames[page]] = json_of(place.by_page[page]);
  for (const auto& [by, name] :
       {std::pair{&HeldBySite::at_peak, "holders_at_peak"}, {&HeldBySite::left, "never_freed"}}) {
    Json& list = json[name] = Json::array();
    for (const auto& [where, held] : largest(place, by, top))
      list.push_back({{"where", where}, {"blocks", (held->*by).times}, {"bytes", (held->*by).bytes}});
  }
  return json;
}

void print_json(const recording::Trace& trace, const Accounts& accounts, const StatsArguments& arguments) {
  Json json;
  json["format"] = "belay-stats";
  json["version"] = 1;
  json["file"] = arguments.file;
  json["bytes"] = trace.bytes();
  json["events"] = accounts.events;
  json["seconds"] = seconds(accounts.last_ns);
  json["processes"] = Json::array();
  for (std::size_t i = 0; i < accounts.processes.size(); ++i) {
    const recording::ProcessFacts& facts = trace.processes()[i];
    const ProcessAccount& process = accounts.processes[i];
    Json entry;
    entry["process"] = facts.process;
    entry["name"] = facts.name;
    entry["product"] = facts.product;
    entry["soc"] = facts.soc;
    entry["began_seconds"] = seconds(facts.began_ns);
    entry["ended"] = facts.ended_ns != 0;
    entry["events"] = process.events;
    entry["tasks"] = process.tasks;
    entry["lost"] = facts.lost;
    entry["thinned"] = !facts.thinning.empty();
    entry["places"] = Json::array();
    for (const auto& [number, place] : process.places)
      entry["places"].push_back(json_of(place, number, arguments.top));
    for (std::size_t way = 0; way < recording::kWays; ++way)
      entry["copied"][kWayNames[way]] = json_of(process.copies[way]);
    entry["filled"] = json_of(process.fills);
    entry["failed_calls"] = Json::array();
    for (const auto& [call, refused] : process.refused) {
      entry["failed_calls"].push_back({{"function", call.first},
                                       {"code", call.second},
                                       {"times", refused.times},
                                       {"first_seconds", seconds(refused.first_ns)},
                                       {"rule", refused.rule},
                                       {"text", refused.text}});
    }
    json["processes"].push_back(std::move(entry));
  }
  json["remarks"] = trace.remarks();
  fmt::print("{}\n", json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

int stats(const StatsArguments& arguments) {
  recording::Trace trace;
  if (const std::string why = trace.open(arguments.file); !why.empty()) throw UsageError{why};
  const Accounts accounts = account_for(trace);
  arguments.json ? print_json(trace, accounts, arguments) : print_stats(trace, accounts, arguments);
  if (!arguments.json) {
    for (const std::string& each : trace.remarks()) fmt::print("\nnote: {}\n", harmless(each));
  }
  return kOk;
}

}  // namespace

Action add_stats(CLI::App& belay) {
  auto arguments = std::make_shared<StatsArguments>();
  CLI::App& app =
      *belay.add_subcommand("stats", "Sum up a trace: peaks, who held what, copies, failed calls")
           ->group("Commands");
  app.add_option("FILE", arguments->file, "a trace, made by belay run --trace")->required();
  app.add_flag("--json", arguments->json, "for tools: all figures in bytes");
  app.add_option("--top", arguments->top, "how many call sites are listed")
      ->type_name("N")
      ->capture_default_str();
  set_help(
      app, "belay stats FILE [--json] [--top N]",
      "Peaks are those of each process, in charged bytes: whole pages. A block that the program has named\n"
      "(belay_label) is listed under its name, others under the place that allocated them.\n\n"
      "Exit code: 0; 2 the file cannot be read, or wrong use.\n\n"
      "Examples:\n"
      "  belay run --trace run.trace -- ./my_program\n"
      "  belay stats run.trace                        peaks, and who held what\n"
      "  belay stats run.trace --json | jq '.processes[0].places[0].peak_bytes'");
  return [arguments] { return stats(*arguments); };
}

}  // namespace belay::cli
