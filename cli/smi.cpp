#include "cli/smi.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "base/harmless.h"
#include "base/words.h"
#include "cli/box.h"
#include "cli/colour.h"
#include "cli/held.h"
#include "cli/help.h"
#include "cli/machines.h"
#include "cli/smi_shares.h"
#include "cli/watch.h"
#include "memory/device_figures.h"
#include "product/product.h"

namespace belay::cli {
namespace {

using machine::ProcessSeen;
using machine::Seen;

struct SmiArguments {
  std::string machine, device, seconds;
  CLI::Option* watch = nullptr;
  bool json = false, shares = false;

  bool watching() const { return watch->count() > 0; }
};

// One look at a machine, and what to show of it.
struct View {
  Seen seen;
  std::vector<std::uint32_t> devices;  // to show: all, or one
  std::vector<std::string> others;     // machines that are in use, if this one is not
  std::string time;                    // of the look
  bool timed = false;                  // whether the text tells it
  bool shares = false;                 // what processes share, not what they hold

  bool whole() const { return devices.size() == seen.devices; }
  // With one device chosen, only those that hold or held some of it.
  bool shows(const ProcessSeen& process) const { return whole() || process.peaks[devices[0]] != 0; }
};

// --- what there is to see -------------------------------------------------------------------------

std::vector<std::uint32_t> devices_to_show(const Seen& seen, const std::string& only) {
  std::vector<std::uint32_t> devices;
  for (std::uint32_t device = 0; device < seen.devices; ++device) {
    if (only.empty() || only == fmt::format("{}", device)) devices.push_back(device);
  }
  if (devices.empty()) {
    throw UsageError{fmt::format("there is no device '{}'", only),
                     seen.devices == 1
                         ? fmt::format("machine '{}' has one, which is device 0", seen.name)
                         : fmt::format("machine '{}' has devices 0 to {}", seen.name, seen.devices - 1)};
  }
  return devices;
}

View look(const machine::Place& place, const std::string& name, const SmiArguments& arguments) {
  View view{machine::look_at(place, name), {}, {}, time_with_zone(), arguments.watching(), arguments.shares};
  if (!view.seen.trouble.empty()) return view;
  if (!view.seen.live) {
    view.seen = as_settings_say(std::move(view.seen));
    for (const Seen& each : all_machines(place)) {
      if (each.live) view.others.push_back(each.name);
    }
  }
  view.devices = devices_to_show(view.seen, arguments.device);
  return view;
}

std::string family_of(const Seen& seen) {
  const ChoiceOrNothing found = find_product(seen.product);
  return found.found ? std::string{found.choice.row->family} : std::string{};
}

std::string why_not(const Seen& seen) {
  return fmt::format("machine '{}' cannot be read: {}", seen.name, seen.trouble);
}

// --- as text --------------------------------------------------------------------------------------

std::string cell(std::size_t bytes) { return bytes == 0 ? "0" : amount(bytes); }

std::string three(std::string_view a, std::string_view b, std::string_view c) {
  return fmt::format("{:>10} {:>10} {:>10}", a, b, c);
}
constexpr std::size_t kThree = 32;

std::string pages_cell(const Held& held) {
  return three(cell(held.huge_2m), cell(held.normal), cell(held.huge_1g));
}

Style style_of(double percent) {
  return percent < 75 ? Style::Green : percent < 90 ? Style::Yellow : Style::Red;
}

// "##........  23.4%"; what is not nothing or everything does not look like it.
std::string use_cell(std::size_t used, std::size_t total) {
  constexpr std::size_t kMarks = 10;
  const double exact = percent(used, total);
  auto marks = static_cast<std::size_t>(std::lround(exact / 100 * kMarks));
  std::string share = fmt::format("{:.1f}%", exact);
  if (used != 0) marks = std::max<std::size_t>(marks, 1);
  if (used < total) marks = std::min(marks, kMarks - 1);
  if (used != 0 && exact < 0.05) share = "<0.1%";
  if (used < total && exact >= 99.95) share = ">99.9%";
  const std::string bar = fmt::format("{:.<{}} {:>6}", std::string(marks, '#'), kMarks, share);
  return used == 0 ? bar : paint(style_of(exact), bar);
}

std::string limits_text(const machine::Limits& limits) {
  std::string text;
  const auto add = [&text](const char* what, std::uint64_t pages) {
    if (pages != machine::kNoLimit)
      text +=
          fmt::format("{}{} {}", text.empty() ? "Limits of each device: " : ", ", what, cell(pages * 4_KiB));
  };
  add("2 MB pages", limits.of_page[1]);
  add("4 KB pages", limits.of_page[0]);
  add("1 GB pages", limits.of_page[2]);
  add("P2P", limits.p2p);
  return text;
}

std::string product_text(const Seen& seen) {
  const std::string family = family_of(seen);
  return family.empty() ? seen.product : fmt::format("{} ({})", seen.product, family);
}

const char* const kPageTitles[] = {"2 MB pages", "4 KB pages", "1 GB pages"};

std::string device_box(const View& view) {
  const Seen& seen = view.seen;
  Box box{{{Align::Left, 6}, {Align::Left, kThree}, {Align::Left, kThree}, {Align::Left, 17}}};
  box.edge();
  box.across(fmt::format("{:<40}  Machine: {}", fmt::format("belay {}", BELAY_VERSION), seen.name));
  box.across(fmt::format("{:<40}  SoC: {}", fmt::format("Product: {}", product_text(seen)), seen.soc));
  box.across(fmt::format("Total of each device: {}", cell(seen.limits.total * 4_KiB)));
  if (const std::string limits = limits_text(seen.limits); !limits.empty()) box.across(limits);
  box.line();
  box.heading({"Device", three("Used", "Free", "Peak"), three(kPageTitles[0], kPageTitles[1], kPageTitles[2]),
               "Use"});
  box.line('=');
  for (const std::uint32_t device : view.devices) {
    const machine::Use& use = seen.on_device[device];
    const Amounts pool = pool_figures(seen.limits, use);
    const std::size_t used = held(use).all();
    box.row({fmt::format("{}", device), three(cell(used), cell(pool.free), cell(seen.peaks[device] * 4_KiB)),
             pages_cell(held(use)), use_cell(used, pool.total)});
  }
  box.line();
  return box.text();
}

// A row for each device that a process holds or held memory of; one that never did is still on the machine.
void process_rows(Box& box, const ProcessSeen& process, const View& view) {
  const auto row = [&](const std::string& device, const Held& held, std::uint64_t peak) {
    box.row({device, fmt::format("{}", process.process), harmless(process.name), cell(held.all()),
             cell(peak * 4_KiB), pages_cell(held)});
  };
  bool any = false;
  for (const std::uint32_t device : view.devices) {
    if (process.peaks[device] == 0) continue;
    row(fmt::format("{}", device), held(process.on_device[device]), process.peaks[device]);
    any = true;
  }
  if (view.whole() && !any) row("-", {}, 0);
}

std::string process_box(const View& view) {
  Box box{{{Align::Left, 6},
           {Align::Right, 7},
           {Align::Left, 16},
           {Align::Right, 10},
           {Align::Right, 10},
           {Align::Left, kThree}}};
  box.line();
  box.heading({"Device", "PID", "Process name", "Used", "Peak",
               three(kPageTitles[0], kPageTitles[1], kPageTitles[2])});
  box.line('=');
  const std::size_t before = box.text().size();
  for (const ProcessSeen& process : view.seen.processes) process_rows(box, process, view);
  if (box.text().size() == before) {
    box.across(view.whole() ? "No processes"
                            : fmt::format("No process holds or held memory of device {}", view.devices[0]));
  }
  box.line();
  return box.text();
}

// What is reserved is the process's: only with its first mapping does a reservation belong to a device.
void virtual_rows(Box& box, const ProcessSeen& process, const View& view) {
  const auto row = [&](const std::string& device, std::size_t reserved, std::size_t mapped) {
    box.row({device, fmt::format("{}", process.process), harmless(process.name),
             reserved == 0 ? "" : cell(reserved), mapped == 0 ? "" : cell(mapped)});
  };
  if (view.whole() && process.reserved != 0) row("-", process.reserved, 0);
  for (const std::uint32_t device : view.devices) {
    if (process.mapped[device] != 0) row(fmt::format("{}", device), 0, process.mapped[device]);
  }
  if (view.whole() && process.mapped_on_host != 0) row("host", 0, process.mapped_on_host);
}

// Only where there is any.
std::string virtual_box(const View& view) {
  Box box{{{Align::Left, 6}, {Align::Right, 7}, {Align::Left, 16}, {Align::Right, 10}, {Align::Right, 10}}};
  box.line();
  box.heading({"Device", "PID", "Process name", "Reserved", "Mapped"});
  box.line('=');
  const std::size_t before = box.text().size();
  for (const ProcessSeen& process : view.seen.processes) virtual_rows(box, process, view);
  if (box.text().size() == before) return {};
  box.line();
  return box.text();
}

// "2026-11-17 22:40:06 +00:00"
std::string text_of_time(const std::string& time) {
  return fmt::format("{} {} {}", time.substr(0, 10), time.substr(11, 8), time.substr(23));
}

std::string as_text(const View& view) {
  const Seen& seen = view.seen;
  std::string text;
  if (view.timed) text += text_of_time(view.time) + "\n";
  if (!seen.trouble.empty()) return text + why_not(seen) + "\n";
  if (view.shares && seen.live) return text + shares_text({seen, view.devices, view.whole()});
  if (!seen.live) {
    text += fmt::format("No process is on machine '{}'.", seen.name);
    if (!view.others.empty()) text += fmt::format(" In use: {}.", fmt::join(view.others, ", "));
    text += " A process with the present settings would get:\n";
  }
  return text + device_box(view) + process_box(view) + virtual_box(view);
}

// --- as JSON --------------------------------------------------------------------------------------

using Json = nlohmann::ordered_json;

void add_held(Json& json, const Held& held) {
  json["used_bytes"] = held.all();
  json["huge_2m_bytes"] = held.huge_2m;
  json["normal_bytes"] = held.normal;
  json["huge_1g_bytes"] = held.huge_1g;
  json["p2p_bytes"] = held.p2p;
}

Json limit_json(std::uint64_t pages) { return pages == machine::kNoLimit ? Json{} : Json(pages * 4_KiB); }

Json device_json(const Seen& seen, std::uint32_t device) {
  const machine::Use& use = seen.on_device[device];
  const Amounts pool = pool_figures(seen.limits, use);
  Json json{{"device", device}, {"total_bytes", pool.total}, {"free_bytes", pool.free}};
  add_held(json, held(use));
  json["peak_bytes"] = seen.peaks[device] * 4_KiB;
  json["mapped_bytes"] =
      std::accumulate(seen.processes.begin(), seen.processes.end(), std::uint64_t{0},
                      [&](std::uint64_t sum, const ProcessSeen& each) { return sum + each.mapped[device]; });
  json["used_percent"] = percent(held(use).all(), pool.total);
  return json;
}

// With one device chosen, the sums are those of that device.
Json process_json(const ProcessSeen& process, const View& view) {
  Json on_devices = Json::array();
  Held all;
  std::uint64_t mapped = view.whole() ? process.mapped_on_host : 0;
  for (const std::uint32_t device : view.devices) {
    const Held on = held(process.on_device[device]);
    if (process.peaks[device] == 0) continue;
    all = all + on;
    mapped += process.mapped[device];
    Json json{{"device", device}};
    add_held(json, on);
    json["peak_bytes"] = process.peaks[device] * 4_KiB;
    json["mapped_bytes"] = process.mapped[device];
    on_devices.push_back(std::move(json));
  }
  Json json{{"pid", process.process}, {"name", process.name}};
  add_held(json, all);
  json["reserved_bytes"] = process.reserved;
  json["mapped_bytes"] = mapped;
  json["mapped_on_host_bytes"] = process.mapped_on_host;
  json["devices"] = std::move(on_devices);
  return json;
}

Json as_json(const View& view) {
  const Seen& seen = view.seen;
  Json json;
  json["time"] = view.time;
  json["belay"] = BELAY_VERSION;
  json["machine"] = seen.name;
  json["directory"] = seen.directory;
  json["state"] = state_word(seen);
  json["trouble"] = seen.trouble.empty() ? Json{} : Json(seen.trouble);
  json["product"] = nullptr;
  json["limits"] = nullptr;
  json["devices"] = Json::array();
  json["processes"] = Json::array();
  if (!seen.trouble.empty()) return json;
  json["product"] = {{"key", seen.product}, {"family", family_of(seen)}, {"soc", seen.soc}};
  json["limits"] = {{"huge_2m_bytes", limit_json(seen.limits.of_page[1])},
                    {"normal_bytes", limit_json(seen.limits.of_page[0])},
                    {"huge_1g_bytes", limit_json(seen.limits.of_page[2])},
                    {"p2p_bytes", limit_json(seen.limits.p2p)}};
  for (const std::uint32_t device : view.devices) json["devices"].push_back(device_json(seen, device));
  for (const ProcessSeen& process : seen.processes) {
    if (view.shows(process)) json["processes"].push_back(process_json(process, view));
  }
  if (view.shares) json["shares"] = shares_json({seen, view.devices, view.whole()});
  return json;
}

// --- the command ----------------------------------------------------------------------------------

// Names of programs may hold any bytes; JSON may not. Whoever watches gets a line each time.
std::string json_text(const View& view, bool one_line) {
  return as_json(view).dump(one_line ? -1 : 2, ' ', false, Json::error_handler_t::replace) + "\n";
}

int smi(const SmiArguments& arguments) {
  const std::string name = choose_machine(arguments.machine);
  const machine::Place place = find_place();
  if (arguments.watching()) {
    watch(arguments.seconds.empty() ? 1 : read_seconds(arguments.seconds), [&] {
      const View view = look(place, name, arguments);
      return arguments.json ? json_text(view, true) : as_text(view);
    });
    return kOk;
  }
  const View view = look(place, name, arguments);
  const bool sound = view.seen.trouble.empty();
  if (arguments.json) {
    fmt::print("{}", json_text(view, false));
  } else if (sound) {
    fmt::print("{}", as_text(view));
  } else {
    fmt::print(stderr, "{} {}\n", complaint("belay smi"), why_not(view.seen));
    fmt::print(stderr, "end the processes that are on it, or use another machine (BELAY_MACHINE)\n");
  }
  return sound ? kOk : kNothingFound;
}

}  // namespace

Action add_smi(CLI::App& belay) {
  auto arguments = std::make_shared<SmiArguments>();
  CLI::App& app =
      *belay.add_subcommand("smi", "Show the devices of a machine, and which process holds how much of them")
           ->group("Commands");
  app.add_option("--machine", arguments->machine, "which one\ndefault: BELAY_MACHINE, else 'default'")
      ->type_name("NAME");
  app.add_option("--device", arguments->device, "only this device, numbered as the machine does")
      ->type_name("N");
  arguments->watch =
      app.add_option("--watch", arguments->seconds, "again every so many seconds, until Ctrl-C\ndefault: 1")
          ->expected(0, 1)
          ->type_name("[SECONDS]");
  app.add_flag("--json", arguments->json,
               "print as JSON, in bytes, with the time; with --watch one object a line");
  app.add_flag(
      "--shares", arguments->shares,
      "what processes gave to each other: memory by handles and keys, events, notifies;\nwho may import "
      "it, who holds it, what is left of those that are gone");
  set_help(
      app, "belay smi [OPTIONS]",
      "All processes of a user that run on the same machine (BELAY_MACHINE) share its devices. Figures\n"
      "are what the devices give out, in whole pages; a process that ends, in whatever way, holds nothing\n"
      "any more. If nobody is on the machine, the one is shown that the next process would get.\n"
      "Peak is the most that was in use at once: of a process since it joined, exactly; of a device since\n"
      "the machine began, exactly if one process at a time used it, else at least so much.\n"
      "Where processes use virtual memory, a third table shows what they have reserved and mapped: bytes of\n"
      "addresses, which take no memory. Physical memory is in the figures above, mapped or not.\n"
      "Exit code: 0, or 1 if the state of the machine cannot be read.\n\n"
      "Examples:\n"
      "  belay smi                                    the machine of BELAY_MACHINE, or the default one\n"
      "  belay smi --watch                            the same, every second\n"
      "  belay smi --machine job42 --device 0         one device of another machine\n"
      "  belay smi --shares                           who shares what with whom\n"
      "  belay smi --json | jq '.devices[0].free_bytes'\n"
      "  belay smi --json --watch 0.5 >use.jsonl      a record of what a program does\n"
      "  belay machine ls                             which machines are there?");
  return [arguments] { return smi(*arguments); };
}

}  // namespace belay::cli
