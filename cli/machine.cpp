#include "cli/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/harmless.h"
#include "base/nearest.h"
#include "base/words.h"
#include "cli/colour.h"
#include "cli/held.h"
#include "cli/help.h"
#include "cli/machines.h"
#include "cli/table.h"
#include "platform/environment.h"

namespace belay::cli {
namespace {

using machine::Seen;

struct MachineArguments {
  CLI::App *ls = nullptr, *rm = nullptr;
  bool json = false, all = false;
  std::vector<std::string> names;
};

Held held_on(const Seen& seen) {
  Held all;
  for (const machine::Use& use : seen.on_device) all = all + held(use);
  return all;
}

// --- ls -------------------------------------------------------------------------------------------

void print_list(const machine::Place& place, const std::vector<Seen>& machines) {
  if (machines.empty()) {
    fmt::print("There are no machines in {}.\n", place.directory);
    fmt::print("The first process that uses belay makes one: belay run -- ./my_program\n");
    return;
  }
  Table table{{Align::Left, Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Left}};
  table.heading({"name", "state", "product", "devices", "used", "processes", "which"});
  for (const Seen& seen : machines) {
    const std::string state{state_word(seen)};
    if (!seen.trouble.empty()) {
      table.row({seen.name, paint(Style::Red, state), "-", "-", "-", "-", seen.trouble});
    } else if (!seen.live) {
      table.row({seen.name, state, "-", "-", "-", "0", "-"});
    } else {
      const std::size_t used = held_on(seen).all();
      table.row({seen.name, state, fmt::format("{}, {}", seen.product, seen.soc),
                 fmt::format("{}", seen.devices), used == 0 ? "0" : amount(used),
                 fmt::format("{}", seen.processes.size()), process_list(seen.processes)});
    }
  }
  fmt::print("{}\nDirectory: {}\n", table.text(output_width()), place.directory);
}

using Json = nlohmann::ordered_json;

Json machine_json(const Seen& seen) {
  const bool known = seen.live && seen.trouble.empty();
  Json json;
  json["name"] = seen.name;
  json["directory"] = seen.directory;
  json["state"] = state_word(seen);
  json["trouble"] = seen.trouble.empty() ? Json{} : Json(seen.trouble);
  json["product"] = known ? Json(seen.product) : Json{};
  json["soc"] = known ? Json(seen.soc) : Json{};
  json["devices"] = known ? Json(seen.devices) : Json{};
  json["total_bytes"] = known ? Json(seen.devices * seen.limits.total * 4_KiB) : Json{};
  json["used_bytes"] = known ? Json(held_on(seen).all()) : Json{};
  json["processes"] = Json::array();
  for (const machine::ProcessSeen& each : seen.processes)
    json["processes"].push_back({{"pid", each.process}, {"name", each.name}});
  return json;
}

int list(const MachineArguments& arguments) {
  const machine::Place place = find_place();
  const std::vector<Seen> machines = all_machines(place);
  if (!arguments.json) {
    print_list(place, machines);
    if (platform::environment("BELAY_MACHINE").value_or("") == machine::kPrivateName) {
      fmt::print(
          "BELAY_MACHINE is private here: each process then has a machine of its own, which is not in this "
          "list.\n");
    }
    return kOk;
  }
  Json json{{"directory", place.directory}, {"machines", Json::array()}};
  for (const Seen& seen : machines) json["machines"].push_back(machine_json(seen));
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
  return kOk;
}

// --- rm -------------------------------------------------------------------------------------------

// Why a machine must stay; empty when nobody is on it.
std::string why_kept(const Seen& seen) {
  if (!seen.trouble.empty())
    return fmt::format("it is in use, and its state cannot be read: {}", seen.trouble);
  if (!seen.live) return {};
  if (seen.processes.empty()) return "a process is about to join it, or to leave";
  return fmt::format("{} {} on it", seen.processes.size() == 1 ? "process" : "processes",
                     process_list(seen.processes) + (seen.processes.size() == 1 ? " is" : " are"));
}

// Complains in words and returns false, or removes and says so.
bool remove_one(const machine::Place& place, const std::string& name) {
  const auto complain = [&name](const std::string& why) {
    fmt::print(stderr, "{} '{}' is not removed: {}\n", complaint("belay machine rm"), name, why);
    return false;
  };
  if (const std::string why = why_kept(machine::look_at(place, name)); !why.empty()) return complain(why);
  if (std::string why; !machine::remove(place, name, why)) return complain(why);
  fmt::print("removed '{}'\n", name);
  return true;
}

int remove_named(const machine::Place& place, const std::vector<std::string>& names) {
  if (std::ranges::find(names, machine::kPrivateName) != names.end())
    refuse_private("there is nothing to remove for the name private");
  int code = kOk;
  for (const std::string& name : names) {
    const std::vector<std::string> known = machine_names(place);
    if (std::ranges::find(known, name) != known.end()) {
      if (!remove_one(place, name)) code = kNothingFound;
      continue;
    }
    const std::vector<std::string_view> views{known.begin(), known.end()};
    const std::string_view near = nearest(name, views);
    fmt::print(stderr, "{} there is no machine '{}'{}\n", complaint("belay machine rm"), harmless(name),
               near.empty() ? "; 'belay machine ls' lists them" : fmt::format("; did you mean {}?", near));
    code = kNothingFound;
  }
  return code;
}

int remove_all(const machine::Place& place) {
  int code = kOk;
  const std::vector<Seen> machines = all_machines(place);
  if (machines.empty()) fmt::print("There are no machines in {}.\n", place.directory);
  for (const Seen& seen : machines) {
    if (const std::string why = why_kept(seen); !why.empty()) {
      fmt::print("kept '{}': {}\n", seen.name, why);
    } else if (!remove_one(place, seen.name)) {
      code = kNothingFound;
    }
  }
  return code;
}

int remove(const MachineArguments& arguments) {
  if (arguments.all && !arguments.names.empty())
    throw UsageError{"give either names or --all", "--all removes every machine without processes"};
  if (!arguments.all && arguments.names.empty())
    throw UsageError{"no machine given",
                     "belay machine rm NAME, or --all for every machine without processes"};
  const machine::Place place = find_place();
  return arguments.all ? remove_all(place) : remove_named(place, arguments.names);
}

// --- the command ----------------------------------------------------------------------------------

int obey(const MachineArguments& arguments) {
  if (arguments.ls->parsed()) return list(arguments);
  if (arguments.rm->parsed()) return remove(arguments);
  throw UsageError{"ls or rm is missing", "see 'belay machine --help'"};
}

}  // namespace

Action add_machine(CLI::App& belay) {
  auto arguments = std::make_shared<MachineArguments>();
  CLI::App& app =
      *belay.add_subcommand("machine", "List the machines that processes share, and remove old ones")
           ->group("Commands");
  set_help(app, "belay machine ls|rm [...]",
           "A machine is a set of emulated devices that all processes of a user with the same BELAY_MACHINE\n"
           "share. It starts with the first of them and ends with the last; only a small directory of links\n"
           "remains. With 'private' each process has a machine of its own.\n\n"
           "Examples:\n"
           "  BELAY_MACHINE=job42 ./my_program &           a machine of that name\n"
           "  belay machine ls                             which processes are on which machine?\n"
           "  belay smi --machine job42                    what do its processes hold?\n"
           "  belay machine rm job42                       once they have ended");
  arguments->ls = app.add_subcommand("ls", "List machines, their processes, and the memory that these hold")
                      ->group("Commands");
  arguments->ls->add_flag("--json", arguments->json, "print as JSON");
  set_help(*arguments->ls, "belay machine ls [--json]",
           "running  processes are on it\n"
           "idle     no process is on it; only its directory is left, and 'belay machine rm' removes it\n"
           "damaged  a process is on it, but what the processes share cannot be read or reached\n\n"
           "Examples:\n"
           "  belay machine ls\n"
           "  BELAY_MACHINES=$PWD/machines belay machine ls\n"
           "  belay machine ls --json | jq -r '.machines[] | select(.state == \"running\") | .name'");
  arguments->rm =
      app.add_subcommand("rm", "Remove the directories of machines without processes")->group("Commands");
  arguments->rm->add_option("NAME", arguments->names, "the machines to remove")->option_text(" ");
  arguments->rm->add_flag("--all", arguments->all, "all machines without processes; the others are kept");
  set_help(
      *arguments->rm, "belay machine rm NAME... | --all",
      "A machine that processes are on is not removed. There is no need to remove machines: the next\n"
      "process of that name starts it again. Exit code: 1 if a machine that you named was not removed.\n\n"
      "Examples:\n"
      "  belay machine rm job42\n"
      "  belay machine rm --all");
  return [arguments] { return obey(*arguments); };
}

}  // namespace belay::cli
