#include "machine/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "platform/directories.h"
#include "platform/process.h"

namespace belay::machine {
namespace {

Header header_for(const Wish& wish) {
  Header header{};
  header.magic = kMagic;
  header.layout = kLayout;
  header.devices = wish.devices;
  header.bytes = State::bytes_for(wish.devices);
  header.limits = wish.limits;
  put_text(header.product, wish.product.data(), wish.product.size());
  put_text(header.soc, wish.soc.data(), wish.soc.size());
  put_text(header.settings, wish.settings.data(), wish.settings.size());
  const std::string name = platform::process_name();
  put_text(header.founder_name, name.data(), name.size());
  header.founder = platform::process_id();
  return header;
}

// "hbm=4 GB;devices=8" -> {hbm: "4 GB", devices: "8"}
std::map<std::string, std::string> as_map(const std::string& settings) {
  std::map<std::string, std::string> map;
  std::istringstream all{settings};
  for (std::string each; std::getline(all, each, ';');) {
    const std::size_t equals = each.find('=');
    if (equals != std::string::npos) map[each.substr(0, equals)] = each.substr(equals + 1);
  }
  return map;
}

Refusal disagree(const std::string& name, const Header& header, const std::string& mine) {
  const auto theirs = as_map(header.settings.data());
  const auto ours = as_map(mine);
  std::string there;
  std::string here;
  for (const auto& [key, value] : ours) {
    const auto other = theirs.find(key);
    const std::string their_value = other == theirs.end() ? "not set" : other->second;
    if (their_value == value) continue;
    const char* comma = here.empty() ? "" : ", ";
    there += fmt::format("{}{} = {}", comma, key, their_value);
    here += fmt::format("{}{} = {}", comma, key, value);
  }
  return no_machine(
      fmt::format("the emulated machine '{}' is running with other settings: process {} ({}) started it "
                  "with {}; this process asks for {}",
                  name, header.founder, header.founder_name.data(), there, here),
      "all processes on one machine see the same devices",
      "use the same settings, wait until the others have ended, or set BELAY_MACHINE to another name, "
      "or to private");
}

}  // namespace

namespace {
constexpr const char* kWhatToDo =
    "remove what is in the way, or set BELAY_MACHINES to a directory of your own (see 'belay doctor')";
}  // namespace

bool good_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name[0] != '.' &&
         name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
             std::string::npos;
}

Machine::Machine(Joined joined)
    : joined_{std::move(joined)}, processes_{joined_.memory, state(), joined_.place, joined_.joined_at} {}

std::unique_ptr<Machine> Machine::alone(const Wish& wish, std::string note) {
  Joined joined;
  joined.memory = platform::CommonMemory::alone(State::bytes_for(wish.devices));
  if (!joined.memory.valid()) return nullptr;
  reinterpret_cast<State*>(joined.memory.start())->header = header_for(wish);
  std::unique_ptr<Machine> machine{new Machine{std::move(joined)}};
  machine->note_ = std::move(note);
  machine->processes_.claim();
  return machine;
}

Result<std::unique_ptr<Machine>> Machine::join(const Wish& wish) {
  std::unique_ptr<Machine> machine;
  if (wish.name == kPrivateName) {
    machine = alone(wish, {});
  } else {
    const std::string name = wish.name.empty() ? kDefaultName : wish.name;
    const Place place = discovery_directory(wish.directory);
    if (place.directory.empty()) {
      // Who named a machine or a place expects others there; who did not can do without them.
      if (!wish.name.empty() || !wish.directory.empty()) {
        return no_machine(
            fmt::format(
                "the emulated machine '{}' has no directory where its processes could find each other: {}",
                name, place.trouble),
            "", "set BELAY_MACHINES to a directory of your own, or BELAY_MACHINE=private");
      }
      machine = alone(
          wish, fmt::format("this process has an emulated machine of its own and does not share "
                            "devices with others, because no directory can be used to find them: {}; {}",
                            place.trouble, kWhatToDo));
    } else {
      ASSIGN_OR_RETURN(Joined joined, discover(place, name, header_for(wish)));
      const Header& header = reinterpret_cast<const State*>(joined.memory.start())->header;
      if (wish.settings != header.settings.data()) {
        Refusal refusal = disagree(name, header, wish.settings);
        leave(joined);
        return refusal;
      }
      machine.reset(new Machine{std::move(joined)});
      if (!place.strange.empty()) {
        machine->note_ =
            fmt::format("{}; so belay uses {} instead; {}", place.strange, place.directory, kWhatToDo);
      }
      if (!machine->processes_.claim()) {
        leave(machine->joined_);
        return no_machine(
            fmt::format("the emulated machine '{}' is full: {} processes are on it", name, kSlots), "",
            "end some of them, or set BELAY_MACHINE to another name");
      }
    }
  }
  if (machine == nullptr) {
    return no_machine("the host has no memory for the emulated machine", "",
                      "free host memory, or raise the limit on address space (ulimit -v)");
  }
  for (std::size_t device = 0; device < machine->state().header.devices; ++device)
    machine->quotas_[device].open(machine->state(), device, machine->processes_);
  return machine;
}

void Machine::depart() {
  if (!joined_.place.directory.empty()) leave(joined_);
  joined_.memory = {};
}

namespace {
void add(Use& to, const Use& more) {
  for (std::size_t kind = 0; kind < kKinds; ++kind) to[kind] += more[kind];
}

// What is in use now was in use: pages that a process was left by the maker of an extent raise no peak.
std::uint64_t peak_of(const std::atomic<std::uint64_t>& noted, const Use& use) {
  return std::max(noted.load(std::memory_order_acquire),
                  std::accumulate(use.begin(), use.end(), std::uint64_t{0}));
}

std::vector<ProcessSeen> processes_on(const platform::CommonMemory& memory, const State& state) {
  std::vector<ProcessSeen> all;
  const std::uint64_t number_space = platform::process_number_space();
  const std::size_t rows = rows_of(state);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::uint64_t life = state.rows[row].life.load(std::memory_order_acquire);
    if (Life::state(life) != Life::Live || !alive(memory, state, row, number_space)) continue;
    const AddressUse& addresses = state.address_use[row];
    ProcessSeen process{.process = state.rows[row].process,
                        .name = state.rows[row].name.data(),
                        .reserved = addresses.reserved.load(std::memory_order_relaxed),
                        .mapped_on_host = addresses.mapped_on_host.load(std::memory_order_relaxed)};
    for (std::size_t device = 0; device < state.header.devices; ++device) {
      process.mapped.push_back(addresses.mapped[device].load(std::memory_order_relaxed));
      process.on_device.push_back(used_by(state, device, row));
      process.peaks.push_back(peak_of(state.devices[device].peaks[row], process.on_device.back()));
    }
    if (state.rows[row].life.load(std::memory_order_acquire) != life)
      continue;  // another took the row meanwhile
    all.push_back(std::move(process));
  }
  std::ranges::sort(all, {}, &ProcessSeen::process);
  return all;
}

Seen look_at_meeting(const MeetingPlace& place, const std::string& name) {
  Seen seen;
  seen.name = name;
  const LookedIn looked = look_in(place);
  const Joined& joined = looked.joined;
  seen.directory = place.path();
  seen.live = joined.memory.valid() || !looked.trouble.empty();
  if (!seen.live) return seen;
  seen.trouble = joined.memory.valid() ? fault_in(joined.memory) : looked.trouble;
  if (!seen.trouble.empty()) return seen;
  const State& state = *reinterpret_cast<const State*>(joined.memory.start());
  const Header& header = state.header;
  seen.product = header.product.data();
  seen.soc = header.soc.data();
  seen.settings = header.settings.data();
  seen.devices = header.devices;
  seen.limits = header.limits;
  seen.on_device.resize(header.devices);
  seen.processes = processes_on(joined.memory, state);
  const std::uint64_t number_space = platform::process_number_space();
  seen.shared =
      look_at_sharing(state, [&](std::size_t row) { return alive(joined.memory, state, row, number_space); });
  for (const ProcessSeen& each : seen.processes) {
    for (std::size_t device = 0; device < header.devices; ++device)
      add(seen.on_device[device], each.on_device[device]);
  }
  for (std::size_t device = 0; device < header.devices; ++device)
    seen.peaks.push_back(peak_of(state.devices[device].peak, seen.on_device[device]));
  return seen;
}

std::string who_is_on(const Seen& seen) {
  if (!seen.trouble.empty()) return seen.trouble;
  std::string who = "processes are on it:";
  for (const ProcessSeen& each : seen.processes) who += fmt::format(" {} ({})", each.process, each.name);
  return who;
}

}  // namespace

std::vector<ProcessSeen> Machine::processes() const {
  return joined_.memory.valid() ? processes_on(joined_.memory, state()) : std::vector<ProcessSeen>{};
}

Seen look_at(const Place& place, const std::string& name) {
  return look_at_meeting(meeting_place(place, name), name);
}

bool remove(const Place& place, const std::string& name, std::string& why) {
  const MeetingPlace meeting = meeting_place(place, name);
  if (const Seen seen = look_at(place, name); seen.live) {
    why = who_is_on(seen);
    return false;
  }
  const platform::OpenDirectory opened = meeting.open(why);
  if (!opened) return false;
  // Out of the way first: whoever comes now makes a new one, and whoever came a moment ago is seen by a
  // second look.
  MeetingPlace aside = meeting;
  aside.machine = fmt::format("removed.{}.{}", platform::process_id(), name);
  if (!opened.rename_directory(meeting.machine, aside.machine)) {
    why = "its directory " + meeting.path() + " cannot be removed";
    return false;
  }
  if (const Seen seen = look_at_meeting(aside, name); seen.live) {
    opened.rename_directory(aside.machine, meeting.machine);
    why = who_is_on(seen);
    return false;
  }
  for (const std::string& each : opened.names_in(aside.machine))
    opened.remove_file(aside.machine + "/" + each);
  if (opened.remove_directory(aside.machine)) return true;
  why = "its directory, now " + aside.path() + ", cannot be removed";
  return false;
}

}  // namespace belay::machine
