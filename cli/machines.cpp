#include "cli/machines.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/harmless.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "config/settings.h"
#include "platform/environment.h"

namespace belay::cli {
namespace {

std::string value_of(const char* variable) { return platform::environment(variable).value_or(""); }

}  // namespace

machine::Place find_place() {
  const std::string wished = value_of("BELAY_MACHINES");
  if (!wished.empty() && !wished.starts_with('/'))
    throw UsageError{fmt::format("the environment variable BELAY_MACHINES has the value '{}'", wished),
                     "it must be the full path of a directory"};
  machine::Place place = machine::discovery_directory(wished);
  if (place.directory.empty()) {
    throw UsageError{
        fmt::format("there is no usable directory in which the processes of a machine find each other: {}",
                    place.trouble),
        "set BELAY_MACHINES to a directory of your own, as 'belay doctor' advises"};
  }
  return place;
}

void refuse_private(const std::string& where_it_stands) {
  throw UsageError{
      fmt::format(
          "{}: a process with BELAY_MACHINE=private has a machine of its own that no other process sees and "
          "that ends with it",
          where_it_stands),
      "'belay machine ls' lists the machines that processes share; 'belay smi --machine NAME' shows one"};
}

std::string choose_machine(const std::string& given) {
  std::string name = given.empty() ? value_of("BELAY_MACHINE") : given;
  if (name.empty()) return machine::kDefaultName;
  const char* where = given.empty() ? "BELAY_MACHINE" : "--machine";
  if (same_word(name, machine::kPrivateName)) refuse_private(fmt::format("{} is private", where));
  if (!machine::good_name(name)) {
    throw UsageError{
        fmt::format("'{}' of {} is not the name of a machine", harmless(name), where),
        "a name has up to 64 letters, digits, '.', '_' and '-'; 'belay machine ls' lists machines"};
  }
  return name;
}

std::vector<std::string> machine_names(const machine::Place& place) {
  std::vector<std::string> names = machine::machines_at(place);
  std::erase_if(names, [](const std::string& name) { return !machine::good_name(name); });
  return names;
}

std::vector<machine::Seen> all_machines(const machine::Place& place) {
  std::vector<machine::Seen> all;
  for (const std::string& name : machine_names(place)) all.push_back(machine::look_at(place, name));
  return all;
}

machine::Seen as_settings_say(machine::Seen seen) {
  Result<Settings> settings = config::read_settings();
  if (!settings) {
    const Refusal refusal = settings.take_refusal();
    throw UsageError{refusal->what, refusal->solution};
  }
  const machine::Wish& wish = settings->machine;
  seen.product = wish.product;
  seen.soc = wish.soc;
  seen.settings = wish.settings;
  seen.devices = wish.devices;
  seen.limits = wish.limits;
  seen.on_device.assign(wish.devices, machine::Use{});
  seen.peaks.assign(wish.devices, 0);
  return seen;
}

std::string_view state_word(const machine::Seen& seen) {
  if (!seen.trouble.empty()) return "damaged";
  return seen.live ? "running" : "idle";
}

std::string process_list(const std::vector<machine::ProcessSeen>& processes) {
  constexpr std::size_t kShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, processes.size()); ++i) {
    list += fmt::format("{}{} ({})", i == 0 ? "" : ", ", processes[i].process, harmless(processes[i].name));
  }
  if (processes.size() > kShown) list += fmt::format(" and {} more", processes.size() - kShown);
  return list;
}

}  // namespace belay::cli
