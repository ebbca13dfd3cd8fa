#include "machine/discovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "machine/process_table.h"
#include "platform/directories.h"
#include "platform/environment.h"
#include "platform/process.h"

namespace belay::machine {
namespace {

using Opened = platform::CommonMemory::Opened;

constexpr std::uint64_t kMostGenerations = std::uint64_t{1} << 62;  // more: not one of ours
constexpr int kMomentOfDeath = 200;                                 // milliseconds
constexpr int kPatience = 1000;  // milliseconds that others may stand in the way
constexpr std::size_t kLookedAtInPassing = 64;

std::string lead_name(std::uint64_t generation) { return fmt::format("lead.{:016x}", generation); }
std::string target_of(int file) { return fmt::format("/proc/{}/fd/{}", platform::process_id(), file); }

template <class Number>
std::optional<Number> number(std::string_view text, int base) {
  Number value{};
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (trouble != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> lead_generation(std::string_view name) {
  if (!name.starts_with("lead.")) return std::nullopt;
  return number<std::uint64_t>(name.substr(5), 16);
}

std::optional<LinkName> member_of(std::string_view name) {
  std::array<std::string_view, 5> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t dot = i + 1 < parts.size() ? name.find('.') : name.size();
    if (dot == std::string_view::npos) return std::nullopt;
    parts[i] = name.substr(0, dot);
    name.remove_prefix(std::min(name.size(), dot + 1));
  }
  const auto generation = number<std::uint64_t>(parts[1], 16);
  const auto process = number<std::int32_t>(parts[2], 10);
  const auto start = number<std::uint64_t>(parts[3], 10);
  const auto joined = number<std::uint64_t>(parts[4], 10);
  const std::string_view role = parts[0] == kMember ? kMember : parts[0] == kFounder ? kFounder : "";
  if (role.empty() || !generation || !process || !start || !joined) return std::nullopt;
  return LinkName{role, *generation, *process, *start, *joined};
}

struct DirectorySeen {
  bool unreadable = false;
  std::uint64_t generation = 0;  // the newest
  std::vector<std::string> names;
};
// The directory of a machine in its opened place.
class Meeting {
 public:
  Meeting(const platform::OpenDirectory& place, std::string name) : place_{place}, name_{std::move(name)} {}
  std::vector<std::string> names(bool* unreadable = nullptr) const {
    return place_.names_in(name_, unreadable);
  }
  platform::Kind kind_at(const std::string& link) const { return place_.kind_at(within(link)); }
  std::optional<std::string> read(const std::string& link) const { return place_.read_link(within(link)); }
  platform::LinkOutcome make(const std::string& link, const std::string& target) const {
    return place_.make_link(within(link), target);
  }
  void remove(const std::string& link) const { place_.remove_file(within(link)); }
  std::string state_name(std::uint64_t generation) const {
    return machine::state_name(place_.identity(name_), generation);
  }
  bool make_private(std::string& why) const {
    return place_.private_directory(name_, why) == platform::Standing::Ours;
  }

 private:
  std::string within(const std::string& link) const { return name_ + "/" + link; }
  const platform::OpenDirectory& place_;
  const std::string name_;
};

// A directory changes while it is listed. A new lead is made before older ones are removed, so a lead that
// was listed and is gone means that there is a newer one: then it is listed again.
DirectorySeen see(const Meeting& meeting) {
  for (int listed = 0;; ++listed) {
    DirectorySeen seen;
    seen.names = meeting.names(&seen.unreadable);
    bool vanished = false;
    for (const std::string& name : seen.names) {
      const auto generation = lead_generation(name);
      if (!generation || *generation >= kMostGenerations) continue;
      switch (meeting.kind_at(name)) {
        case platform::Kind::Link:
          seen.generation = std::max(seen.generation, *generation);
          break;
        case platform::Kind::Nothing:
          vanished = true;
          break;
        case platform::Kind::Directory:
        case platform::Kind::Other:
          break;
      }
    }
    if (!vanished || listed > kPatience) return seen;
  }
}

// Is another process about to found this generation?
bool somebody_founds(const DirectorySeen& seen, std::uint64_t generation) {
  return std::ranges::any_of(seen.names, [&](const std::string& name) {
    if (!name.starts_with(kFounder)) return false;  // most are not, and there may be thousands
    const std::optional<LinkName> who = member_of(name);
    return who && who->role == kFounder && who->generation == generation &&
           who->process != platform::process_id() && !platform::surely_gone(who->process, who->start);
  });
}

enum class Found : std::uint8_t { Open, Nobody, WithoutFile, OutOfReach };
struct Finding {
  Found found = Found::Nobody;
  std::int32_t who = 0;
};

// Why nobody gets in although somebody is there; empty where that is not so.
std::string words_for(const Finding& finding) {
  switch (finding.found) {
    case Found::WithoutFile:
      return fmt::format("process {} is on it and has closed its file descriptors, so no other can join",
                         finding.who);
    case Found::OutOfReach:
      return fmt::format(
          "process {} is on it, and the kernel does not let other processes look into it (it is set-uid, "
          "or has made itself undumpable)",
          finding.who);
    case Found::Open:
    case Found::Nobody:
      break;
  }
  return {};
}

// Opens the state of a generation through any of its members.
Finding find(const Meeting& meeting, const DirectorySeen& seen, bool writable, bool tidy,
             platform::CommonMemory& memory) {
  Finding finding;
  const std::int32_t me = platform::process_id();
  const std::string state = meeting.state_name(seen.generation);
  const auto open = [&](const std::string& target) {
    return platform::CommonMemory::open(target, state.c_str(), writable, memory);
  };
  // The founder first: with it alive, the others need not be looked at.
  if (const auto target = meeting.read(lead_name(seen.generation))) {
    if (open(*target) == Opened::Done) return {Found::Open};
  }
  for (const std::string& name : seen.names) {
    const std::optional<LinkName> member = member_of(name);
    if (!member || member->role != kMember || member->generation != seen.generation || member->process == me)
      continue;
    const std::optional<std::string> target = meeting.read(name);
    if (!target) continue;
    if (platform::surely_gone(member->process, member->start)) {
      if (tidy) meeting.remove(name);
      continue;
    }
    Opened opened = open(*target);
    if (opened == Opened::Gone) {
      // Where the first thread of a process has ended, the others still show what is open.
      const std::string file = target->substr(target->rfind('/') + 1);
      for (const std::string& thread : platform::threads_of(member->process)) {
        if (opened == Opened::Gone) opened = open(thread + "/fd/" + file);
      }
    }
    switch (opened) {
      case Opened::Done:
        return {Found::Open};
      case Opened::Refused:
        finding = {Found::OutOfReach, member->process};
        break;
      case Opened::NotOurs:
      case Opened::Gone:
        // Alive, and nothing of ours is open there: on its way in, a program that closed all its files, or
        // one that has become another program.
        if (platform::read_link(*target) == platform::kReserved) break;
        if (platform::has_mapped(member->process, 0, state.c_str()) == platform::Maps::Yes) {
          finding = {Found::WithoutFile, member->process};
        } else if (tidy) {
          meeting.remove(name);
        }
        break;
    }
  }
  return finding;
}

// While the founder lives nobody has to look at the other links, so those of killed processes would pile up.
// Each process that joins removes a few: not more, or one would pay for all, and not always the same ones, or
// many who live could stand before them. The name tells for good whose a link is, so that a process which is
// just coming in loses nothing.
void tidy_some(const Meeting& meeting, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const std::size_t first = platform::clock_ticks() % names.size();
  for (std::size_t i = 0; i < std::min(names.size(), kLookedAtInPassing); ++i) {
    const std::string& name = names[(first + i) % names.size()];
    const std::optional<LinkName> who = member_of(name);
    if (who && platform::surely_gone(who->process, who->start)) meeting.remove(name);
  }
}

Refusal cannot_join(const std::string& name, const std::string& what, std::string todo) {
  return no_machine(fmt::format("the emulated machine '{}' cannot be joined: {}", name, what), "",
                    std::move(todo));
}

}  // namespace

std::string fault_in(const platform::CommonMemory& memory) {
  if (memory.bytes() < sizeof(Header)) return "its state is too short";
  const Header& header = reinterpret_cast<const State*>(memory.start())->header;
  if (header.magic != kMagic) return "its state was not written by belay";
  if (header.layout != kLayout) {
    return fmt::format("it was started by another version of belay (layout {}, this one has {})",
                       header.layout, kLayout);
  }
  if (header.check != State::check_of(header)) return "its state is damaged";
  if (header.devices < 1 || header.devices > kMostDevices || header.bytes != memory.bytes() ||
      header.bytes != State::bytes_for(header.devices))
    return "its state is damaged";
  return {};
}

namespace {
constexpr std::string_view kCache = "/.cache";  // in a home
}  // namespace

Place discovery_directory(const std::string& wished) {
  if (!wished.empty()) {
    Place place{wished, {}, {}, true};
    if (!platform::usable_directory(wished, place.trouble)) place.directory.clear();
    return place;
  }
  Place place;
  const auto add = [](std::string& to, const std::string& why) { to += (to.empty() ? "" : "; ") + why; };
  for (const std::string& directory : usual_places()) {
    std::string why;
    // A home may be without .cache; /dev/shm and /tmp are not ours to make.
    const std::string around = directory.substr(0, directory.rfind('/'));
    if (around.ends_with(kCache)) (void)platform::usable_directory(around, why);
    const platform::Standing standing = platform::private_directory(directory, why);
    if (standing == platform::Standing::Ours) return {directory, {}, std::move(place.strange)};
    if (standing == platform::Standing::Strange) add(place.strange, why);
    add(place.trouble, why);
  }
  return place;
}

std::vector<std::string> usual_places() {
  std::vector<std::string> places;
  for (const char* base : {"/dev/shm", "/tmp"})
    places.push_back(fmt::format("{}/belay-{}", base, platform::user_id()));
  // Not the home of somebody else, which sudo may leave in the environment.
  const std::string home = platform::environment("HOME").value_or("");
  const std::string boot = platform::boot_id();
  if (home.starts_with('/') && !boot.empty() && platform::belongs_to_user(home))
    places.push_back(fmt::format("{}{}/belay-{}", home, kCache, boot));
  return places;
}

namespace {
// Processes that do not see each other's numbers (containers) cannot meet, even in the same directory.
std::string directory_prefix() {
  constexpr std::uint64_t kFirstNumberSpace = 0xEFFFFFFC;  // of the kernel itself
  const std::uint64_t space = platform::process_number_space();
  return space == kFirstNumberSpace || space == 0 ? fmt::format("v{}.", kLayout)
                                                  : fmt::format("v{}-{}.", kLayout, space);
}
}  // namespace

MeetingPlace meeting_place(const Place& place, const std::string& name) {
  return {place.directory, place.named, directory_prefix() + name};
}

std::vector<std::string> machines_at(const Place& place) {
  std::vector<std::string> names;
  const std::string prefix = directory_prefix();
  std::string why;
  const platform::OpenDirectory opened{place.directory, place.named, why};
  if (!opened) return names;
  // A link could lead to a directory that means something else to its owner.
  for (const std::string& each : opened.names_in(".")) {
    if (each.starts_with(prefix) && opened.kind_at(each) == platform::Kind::Directory)
      names.push_back(each.substr(prefix.size()));
  }
  return names;
}

void leave(const Joined& joined) {
  std::string why;
  const platform::OpenDirectory opened = joined.place.open(why);
  if (!opened) return;  // those who come find that the process has gone
  const Meeting meeting{opened, joined.place.machine};
  const std::int32_t me = platform::process_id();
  for (const std::string& name : meeting.names()) {
    const std::optional<LinkName> member = member_of(name);
    if (member && member->process == me) meeting.remove(name);
  }
}

LookedIn look_in(const MeetingPlace& place) {
  LookedIn looked;
  looked.joined.place = place;
  std::string why;
  const platform::OpenDirectory opened = place.open(why);
  if (!opened) return looked;
  const Meeting meeting{opened, place.machine};
  for (int waited = 0;; ++waited) {
    const DirectorySeen seen = see(meeting);
    if (seen.generation == 0) return looked;
    looked.trouble = words_for(find(meeting, seen, false, false, looked.joined.memory));
    if (looked.trouble.empty() || waited >= kMomentOfDeath) return looked;
    platform::sleep_briefly();
  }
}

Result<Joined> discover(const Place& place, const std::string& name, const Header& header) {
  Joined joined;
  joined.place = meeting_place(place, name);
  std::string why;
  const platform::OpenDirectory opened = joined.place.open(why);
  if (!opened)
    return cannot_join(name, why,
                       "set BELAY_MACHINES to a directory of your own, raise 'ulimit -n' if descriptors "
                       "have run out, or set BELAY_MACHINE=private");
  const Meeting meeting{opened, joined.place.machine};
  const std::int32_t me = platform::process_id();
  int reserved = platform::reserve_descriptor();
  const std::optional<std::uint64_t> start = platform::start_time(me);
  const auto give_up = [&](std::string what, std::string todo) {
    joined.memory = platform::CommonMemory{};
    leave(joined);
    platform::release_descriptor(reserved);
    return cannot_join(name, what, std::move(todo));
  };
  const auto no_room = [&] {
    return give_up("nothing can be written into its directory " + joined.place.path() +
                       ", or this process has no file descriptor left",
                   "free space there, raise 'ulimit -n', or set BELAY_MACHINES to another directory");
  };
  const auto unlisted = [&] {
    return give_up("its directory cannot be listed: there is no file descriptor left, or " +
                       joined.place.path() + " is not readable",
                   "raise 'ulimit -n', or set BELAY_MACHINE=private");
  };
  const auto link_for = [&](std::string_view role, std::uint64_t generation) {
    joined.joined_at = platform::clock_ticks();
    return text_of({role, generation, me, *start, joined.joined_at});
  };

  if (reserved >= 0 && !start)
    return give_up("there is no /proc, or no file descriptor left to read it",
                   "mount it, raise 'ulimit -n', or set BELAY_MACHINE=private");
  for (int waited = 0;;) {
    // The number under which the state will be open here is known before it is, so that we can say that we
    // come.
    if (reserved < 0) reserved = platform::reserve_descriptor();
    if (reserved < 0)
      return give_up("this process has no file descriptor left",
                     "raise 'ulimit -n', or set BELAY_MACHINE=private");
    if (!meeting.make_private(why))
      return give_up(why, "set BELAY_MACHINES to a directory of your own, or BELAY_MACHINE=private");
    const DirectorySeen before = see(meeting);
    if (before.unreadable) return unlisted();
    const std::uint64_t now = before.generation;
    const std::uint64_t next = now + 1;
    std::string founder_link;
    if (now != 0) {
      const std::string my_link = link_for(kMember, now);
      if (meeting.make(my_link, target_of(reserved)) != platform::LinkOutcome::Made) {
        if (++waited > kPatience) return no_room();
        platform::sleep_briefly();
        continue;
      }
      const Finding finding = find(meeting, see(meeting), true, true, joined.memory);
      if (finding.found == Found::Open) {
        if (std::string fault = fault_in(joined.memory); !fault.empty())
          return give_up(std::move(fault),
                         "end the processes that are on it ('belay machine ls' lists them), or set "
                         "BELAY_MACHINE to another name");
        joined.memory.move_to(reserved);
        reserved = -1;
        // From here on everybody can see that we are in. Whoever is about to found the next generation said
        // so before looking, so either they have seen us or we see them now, and step back.
        const DirectorySeen after = see(meeting);
        if (after.unreadable) return unlisted();
        if (after.generation == now && (++waited > kPatience || !somebody_founds(after, next))) {
          tidy_some(meeting, after.names);
          return joined;
        }
        joined.memory = platform::CommonMemory{};
        meeting.remove(my_link);
        platform::sleep_briefly();
        continue;
      }
      if (std::string barred = words_for(finding); !barred.empty()) {
        // A process that is ending is out of reach for a moment, too.
        if (++waited <= kMomentOfDeath) {
          meeting.remove(my_link);
          platform::sleep_briefly();
          continue;
        }
        return give_up(std::move(barred),
                       "start another process on that machine first, or set BELAY_MACHINE to another name");
      }
      meeting.remove(my_link);
      // Nobody is in. Say that the next generation comes, and look once more.
      founder_link = link_for(kFounder, next);
      if (meeting.make(founder_link, target_of(reserved)) != platform::LinkOutcome::Made) {
        if (++waited > kPatience) return no_room();
        platform::sleep_briefly();
        continue;
      }
      if (find(meeting, see(meeting), true, true, joined.memory).found != Found::Nobody) {
        joined.memory = platform::CommonMemory{};
        meeting.remove(founder_link);
        continue;
      }
    }

    const std::string state = meeting.state_name(next);
    joined.memory = platform::CommonMemory::create(state.c_str(), header.bytes);
    if (!joined.memory.valid()) {
      return give_up(
          "the kernel provides no memory for its state: a limit on descriptors (ulimit -n), file size "
          "(ulimit -f) or address space (ulimit -v) is reached, or memory has run out",
          "raise the limit, or set BELAY_MACHINE=private");
    }
    Header& fresh = reinterpret_cast<State*>(joined.memory.start())->header;
    fresh = header;
    fresh.generation = next;
    fresh.check = State::check_of(fresh);
    const std::string target = target_of(joined.memory.file());
    const platform::LinkOutcome led = meeting.make(lead_name(next), target);
    if (!founder_link.empty()) meeting.remove(founder_link);
    const DirectorySeen after = see(meeting);
    if (led == platform::LinkOutcome::Made &&
        (after.unreadable || after.generation != next || meeting.state_name(next) != state)) {
      // We slept over newer generations, and their number was free again; or the directory was removed and
      // made anew, and nobody would know our state there.
      meeting.remove(lead_name(next));
      if (after.unreadable) return unlisted();
    } else if (led == platform::LinkOutcome::Made) {
      meeting.make(link_for(kMember, next), target);
      for (const std::string& each : meeting.names()) {
        const auto lead = lead_generation(each);
        const auto member = member_of(each);
        const bool outdated = (lead && *lead < next) || (member && member->generation < next);
        if (outdated) meeting.remove(each);
      }
      platform::release_descriptor(reserved);
      return joined;
    }
    if (led == platform::LinkOutcome::Refused) return no_room();
    joined.memory = platform::CommonMemory{};  // somebody was quicker, or tidied up: look again
    if (++waited > kPatience) return no_room();
  }
}

}  // namespace belay::machine
