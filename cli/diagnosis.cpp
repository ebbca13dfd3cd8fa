#include "cli/diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/words.h"

namespace belay::cli {
namespace {

using platform::Can;
using platform::HostFacts;
using platform::HostTrials;
using platform::Place;
using platform::ProcessLimit;

constexpr std::string_view kMachine = "This machine";
constexpr std::string_view kPinned = "Pinned host memory";
constexpr std::string_view kShared = "The machine that processes share";
constexpr std::string_view kLimits = "Limits";
constexpr std::string_view kSettings = "Settings";

// Below these, programs of ordinary size are likely to meet the limit.
constexpr std::size_t kLittleMemory = 1_GiB;
constexpr std::size_t kLeftAlone = 32_MiB;  // as memory/host_room.cpp: this, or a twentieth of everything
constexpr std::size_t kLittleLocked = 64_MiB;
constexpr std::size_t kFewFiles = 1024;
constexpr std::size_t kFewMappings = 65530;

std::string amount_or_unknown(const std::optional<std::size_t>& bytes) {
  return bytes ? amount(*bytes) : "unknown";
}

std::string because(int error) { return std::generic_category().message(error); }

// Raising a soft limit is the user's own business up to the hard one.
bool user_may_raise(const ProcessLimit& limit) {
  return !limit.hard || (limit.soft && *limit.soft < *limit.hard);
}

Remedy ulimit(char letter, const ProcessLimit& limit, std::size_t unit) {
  const std::string value = limit.hard ? fmt::format("{}", *limit.hard / unit) : "unlimited";
  return {Whose::User, fmt::format("ulimit -{} {}", letter, value), "in the shell that starts the program"};
}

class Doctor {
 public:
  Doctor(const Host& host, const Wishes& wishes)
      : host_{host}, facts_{host.facts}, trials_{host.trials}, wishes_{wishes} {
    diagnosis_.uses.pages_2m = page_source(host, wishes, 2_MiB);
    diagnosis_.uses.pages_1g = page_source(host, wishes, 1_GiB);
  }

  Diagnosis examine() {
    about_kernel();
    about_surroundings();
    about_memory();
    about_addresses();
    about_managed();
    about_backing();
    about_pages();
    about_commit();
    about_locking();
    about_nodes();
    about_meeting_place();
    about_passing_memory();
    about_open_files();
    about_mappings();
    about_overcommit();
    about_settings();
    return std::move(diagnosis_);
  }

 private:
  void say(std::string_view section, std::string_view id, std::string_view title, Mark mark, std::string text,
           std::vector<Remedy> remedies = {}) {
    diagnosis_.findings.push_back({section, id, title, mark, std::move(text), std::move(remedies)});
  }
  bool in_container() const { return !facts_.container.empty(); }

  // --- this machine -------------------------------------------------------------------------------

  void about_kernel() {
    say(kMachine, "kernel", "kernel", facts_.kernel == "unknown" ? Mark::Note : Mark::Ok,
        fmt::format("Linux {} on {}, {}", facts_.kernel, facts_.architecture,
                    facts_.cpus ? fmt::format("{} CPU{}", *facts_.cpus, *facts_.cpus == 1 ? "" : "s")
                                : "number of CPUs unknown"));
  }

  void about_surroundings() {
    std::string text;
    if (in_container()) {
      text = fmt::format("a container ({}): kernel settings are made by root on its host", facts_.container);
    }
    if (!facts_.virtual_machine.empty()) {
      text += fmt::format("{}a virtual machine ({}): how fast huge pages are depends on its host too",
                          text.empty() ? "" : "; ", facts_.virtual_machine);
    }
    if (!text.empty()) say(kMachine, "surroundings", "inside", Mark::Ok, text);
  }

  void about_memory() {
    std::string text = fmt::format("{} in all, {} available", amount_or_unknown(facts_.memory_total),
                                   amount_or_unknown(facts_.memory_available));
    if (const platform::CgroupMemory* group = facts_.tightest_group()) {
      text += fmt::format("; the control group {} allows {} and has {} left", group->directory,
                          amount(group->limit), amount(group->headroom()));
    }
    say(kMachine, "memory", "memory", facts_.memory_available ? Mark::Ok : Mark::Note, text);
  }

  // --- device memory ------------------------------------------------------------------------------

  // What there is to say where addresses are limited, and what to do about it.
  std::string limited_addresses() const {
    const ProcessLimit& limit = facts_.limits.address_bytes;
    return limit.soft ? fmt::format(" (the address space of a process is limited to {})", amount(*limit.soft))
                      : "";
  }
  std::vector<Remedy> more_addresses() const {
    const ProcessLimit& limit = facts_.limits.address_bytes;
    std::vector<Remedy> remedies;
    if (!limit.soft) return remedies;
    if (user_may_raise(limit)) remedies.push_back(ulimit('v', limit, 1_KiB));
    if (limit.hard)
      remedies.push_back({Whose::Root, "sudo prlimit --pid $$ --as=unlimited", "for this shell, at once"});
    return remedies;
  }

  void about_addresses() {
    const platform::AddressRange& window = trials_.window;
    const bool touches = wishes_.host_access == "allow";
    const std::vector<Remedy> remedies = more_addresses();
    const std::string limited = limited_addresses();
    if (window.reserved) {
      const bool usual = window.base == 0x100000000000;
      say(kDevice, "addresses", "addresses", Mark::Ok,
          fmt::format("{} reserved at {}{}", amount(window.bytes), hex(window.base),
                      usual ? ", as on a card; an access by host code is explained"
                            : "; the usual place, 0x100000000000, is taken"));
    } else if (touches && trials_.touchable == Can::No) {
      say(kDevice, "addresses", "addresses", Mark::Problem,
          fmt::format("host code may touch device memory here, but no addresses can be reserved for that{}",
                      limited),
          remedies);
    } else if (window.base != 0) {
      say(kDevice, "addresses", "addresses", Mark::Note,
          fmt::format("{} at {}, used without being reserved{}; BELAY_HOST_ACCESS=allow would {}",
                      amount(window.bytes), hex(window.base), limited,
                      trials_.touchable == Can::Yes ? "have 256 GB" : "not work"),
          remedies);
    } else if (trials_.touchable == Can::Yes) {
      say(kDevice, "addresses", "addresses", Mark::Note,
          fmt::format("256 GB instead of 8 TB{}: large machines do not fit", limited), remedies);
    } else {
      say(kDevice, "addresses", "addresses", Mark::Problem,
          fmt::format("there is no room for device addresses{}: every allocation will fail", limited),
          remedies);
    }
  }

  // Only programs that use it are concerned, so nothing here is a problem.
  void about_managed() {
    const platform::AddressRange& place = trials_.managed;
    const platform::AddressWish& usual = platform::kManagedWishes[0];
    const auto note = [&](Mark mark, std::string text) {
      say(kDevice, "managed", "managed memory", mark, std::move(text),
          mark == Mark::Ok ? std::vector<Remedy>{} : more_addresses());
    };
    const std::string where = fmt::format("{} at {}", amount(place.bytes), hex(place.base));
    if (place.base == 0) {
      note(Mark::Note,
           fmt::format("there is no room for its addresses{}: aclrtMemAllocManaged will return 207001",
                       limited_addresses()));
    } else if (place.bytes < usual.bytes) {
      note(Mark::Note, fmt::format("only {}, because this kernel has few addresses{}: aclrtMemAllocManaged "
                                   "returns 207001 beyond that",
                                   where, limited_addresses()));
    } else if (!place.reserved) {
      note(Mark::Note, fmt::format("{}, used without being reserved{}", where, limited_addresses()));
    } else if (place.base != usual.base) {
      note(Mark::Ok,
           fmt::format("{}; the usual place, {}, is taken, as by a sanitizer", where, hex(usual.base)));
    } else {
      note(Mark::Ok, fmt::format("{}, as on a card; elsewhere in programs with a sanitizer", where));
    }
  }

  void about_backing() {
    if (!wishes_.keeps_bytes()) {
      say(kDevice, "contents", "contents", Mark::Ok,
          "BELAY_BACKING=none: no bytes are kept, so the pages and the memory of this machine do not matter");
      return;
    }
    std::vector<Remedy> remedies;
    std::string why;
    if (trials_.memfd != Can::Yes) {
      why = fmt::format("the kernel provides no file in memory: {}", because(trials_.memfd_error));
      if (facts_.memfd_noexec.value_or(0) >= 2)
        remedies.push_back({Whose::Root, "sudo sysctl vm.memfd_noexec=1", ""});
    } else if (trials_.long_file != Can::Yes) {
      const ProcessLimit& limit = facts_.limits.file_bytes;
      why = limit.soft ? fmt::format("files may not be longer than {}", amount(*limit.soft))
                       : "a file in memory cannot have 8 TB";
      if (limit.soft && user_may_raise(limit)) remedies.push_back(ulimit('f', limit, 1_KiB));
      if (limit.hard) {
        remedies.push_back(
            {Whose::Root, "sudo prlimit --pid $$ --fsize=unlimited", "for this shell, at once"});
      }
    }
    if (why.empty() && trials_.view != Can::No) {
      say(kDevice, "contents", "contents", Mark::Ok,
          "in a file in memory that grows as it is written; the size of /dev/shm does not limit it");
    } else if (why.empty()) {
      say(kDevice, "contents", "contents", Mark::Note,
          "in a file in memory, but there is no room to map it: copies go through system calls and are "
          "slower");
    } else if (trials_.long_mapping == Can::Yes) {
      say(kDevice, "contents", "contents", Mark::Note,
          fmt::format("in memory without a file, which cannot be shared with other processes: {}", why),
          remedies);
    } else {
      remedies.push_back({Whose::Setting, "export BELAY_BACKING=none", "for runs that need no contents"});
      say(kDevice, "contents", "contents", Mark::Problem,
          fmt::format("nowhere: {}, and 8 TB cannot be mapped without one; copies will fail", why), remedies);
    }
  }

  void about_pages() {
    if (!wishes_.keeps_bytes()) return;
    for (const std::size_t page_bytes : {2_MiB, 1_GiB})
      diagnosis_.findings.push_back(cli::about_pages(host_, wishes_, page_bytes));
  }

  std::vector<Remedy> more_memory() const {
    const platform::CgroupMemory* group = facts_.tightest_group();
    if (group == nullptr || group->headroom() > facts_.memory_available.value_or(SIZE_MAX)) return {};
    if (in_container()) return {{Whose::Container, "docker run --memory=8g ...", ""}};
    return {{Whose::Root,
             group->version == 2
                 ? fmt::format("echo max | sudo tee {}/memory.max", group->directory)
                 : fmt::format("echo -1 | sudo tee {}/memory.limit_in_bytes", group->directory),
             "removes the control group's limit"}};
  }

  void about_commit() {
    if (!wishes_.keeps_bytes()) return;
    const std::optional<std::size_t> room = facts_.room();
    const std::optional<std::size_t>& wished = wishes_.commit_bytes;
    diagnosis_.uses.commit_bytes = wished && room ? std::min(*wished, *room) : wished ? wished : room;
    constexpr std::string_view kBeyond = "a copy that needs more returns 207001";
    if (!room) {
      say(kDevice, "commit", "memory to use", Mark::Note,
          "how much memory is left is unknown, so the kernel may kill a program that writes too much",
          {{Whose::Setting, "export BELAY_COMMIT=4G", "the most that contents may take"}});
      return;
    }
    const platform::CgroupMemory* group = facts_.tightest_group();
    const std::size_t all = group != nullptr ? group->limit : facts_.memory_total.value_or(0);
    const bool none = *room <= std::max(kLeftAlone, all / 20);
    const bool little = *room < kLittleMemory;
    const bool too_much = wished && *wished > *room;
    std::string text = fmt::format("BELAY_COMMIT={}: ", wished ? wishes_.commit : "auto");
    if (none) {
      text += fmt::format("{} are left, which is too little for any copy to a device", amount(*room));
    } else if (wished) {
      text +=
          too_much ? fmt::format("but only {} are left; {}", amount(*room), kBeyond) : std::string{kBeyond};
    } else {
      text += fmt::format("nearly all of the {} that are left now; {}", amount(*room), kBeyond);
    }
    say(kDevice, "commit", "memory to use",
        none                 ? Mark::Problem
        : little || too_much ? Mark::Note
                             : Mark::Ok,
        text, little || too_much ? more_memory() : std::vector<Remedy>{});
  }

  // --- pinned host memory -------------------------------------------------------------------------

  void about_locking() {
    const ProcessLimit& limit = facts_.limits.locked_bytes;
    const bool strict = wishes_.pin == "strict";
    if (trials_.lock_beyond_limit == Can::Yes) {
      say(kPinned, "locking", "locking", Mark::Ok,
          limit.soft ? "this user is not bound by the limit on locked memory"
                     : "there is no limit on locked memory");
      return;
    }
    std::vector<Remedy> remedies;
    if (user_may_raise(limit)) remedies.push_back(ulimit('l', limit, 1_KiB));
    if (limit.hard) {
      remedies.push_back(
          {Whose::Root, "sudo prlimit --pid $$ --memlock=unlimited", "for this shell, at once"});
      remedies.push_back(
          {Whose::Root, "echo \"$USER - memlock unlimited\" | sudo tee /etc/security/limits.d/90-belay.conf",
           "from the next login on"});
      if (in_container()) remedies.push_back({Whose::Container, "docker run --ulimit memlock=-1 ...", ""});
    }
    if (trials_.lock_page == Can::No) {
      if (strict) {
        remedies.push_back(
            {Whose::Setting, "unset BELAY_PIN", "hands out unlocked memory, and says so once"});
      }
      say(kPinned, "locking", "locking", strict ? Mark::Problem : Mark::Note,
          fmt::format("not one page can be locked (limit: {}): aclrtMallocHost will {}",
                      limit.soft ? amount(*limit.soft) : "none",
                      strict ? "return 207001, because of BELAY_PIN=strict" : "hand out unlocked memory"),
          std::move(remedies));
      return;
    }
    if (!limit.soft) {
      say(kPinned, "locking", "locking", Mark::Ok, "there is no limit on locked memory");
      return;
    }
    const bool little = *limit.soft < kLittleLocked;
    say(kPinned, "locking", "locking", little ? Mark::Note : Mark::Ok,
        fmt::format("{} in all may be locked; beyond that aclrtMallocHost {}", amount(*limit.soft),
                    strict ? "returns 207001" : "hands out unlocked memory"),
        little ? std::move(remedies) : std::vector<Remedy>{});
  }

  void about_nodes() {
    const std::vector<std::size_t>& nodes = facts_.numa_nodes;
    const std::string known = nodes.empty()
                                  ? "NUMA nodes unknown"
                                  : fmt::format("{} NUMA node{} ({})", nodes.size(),
                                                nodes.size() == 1 ? "" : "s", fmt::join(nodes, ", "));
    const bool wished = !wishes_.host_node.empty();
    std::size_t node = 0;
    const char* const end = wishes_.host_node.data() + wishes_.host_node.size();
    const auto read = std::from_chars(wishes_.host_node.data(), end, node);
    const bool number = wished && read.ec == std::errc{} && read.ptr == end;
    if (number && !nodes.empty() && std::ranges::find(nodes, node) == nodes.end()) {
      say(kPinned, "numa", "NUMA", Mark::Problem,
          fmt::format("BELAY_HOST_NODE={}, but this machine has {}", node, known),
          {{Whose::Setting, "unset BELAY_HOST_NODE", ""}});
      return;
    }
    if (!wished && nodes.size() < 2) {
      say(kPinned, "numa", "NUMA", Mark::Ok, known + "; BELAY_HOST_NODE has no effect");
      return;
    }
    const std::string wish =
        wished ? fmt::format("BELAY_HOST_NODE={}", wishes_.host_node) : std::string{"BELAY_HOST_NODE"};
    if (trials_.bind_node == Can::No) {
      std::vector<Remedy> remedies;
      if (in_container()) remedies.push_back({Whose::Container, "docker run --cap-add SYS_NICE ...", ""});
      say(kPinned, "numa", "NUMA", Mark::Note,
          fmt::format("{}; {} has no effect: the system call mbind is refused", known, wish), remedies);
    } else if (trials_.libnuma == Can::No) {
      say(kPinned, "numa", "NUMA", Mark::Note,
          fmt::format("{}; {} has no effect without libnuma, which is not installed", known, wish),
          {{Whose::Root, "sudo apt-get install libnuma1", ""}});
    } else {
      say(kPinned, "numa", "NUMA", Mark::Ok,
          wished ? fmt::format("{}; {} works", known, wish)
                 : fmt::format("{}; BELAY_HOST_NODE can choose one", known));
    }
  }

  // --- the machine that processes share -----------------------------------------------------------

  bool alone() const { return wishes_.machine == "private"; }

  // What has the name of the place and is not a directory of this user alone, with what mends it.
  struct Strange {
    std::string words;
    Remedy remedy;
  };
  std::optional<Strange> strange_at(const Meeting& meeting) const {
    // A directory that the user names may be anybody's: each machine gets a private one in it.
    if (!wishes_.machines.empty()) return std::nullopt;
    const Place& own = meeting.own;
    const Remedy remove{Whose::Root, "sudo rm -r " + own.path, "if nothing in it is needed"};
    if (own.link) return Strange{own.path + " is a symbolic link", remove};
    if (own.obstructed) return Strange{own.path + " is not a directory", remove};
    if (own.present && own.owner != facts_.user)
      return Strange{own.path + " belongs to another user", remove};
    if (own.present && own.open_to_others)
      return Strange{own.path + " is open to other users", {Whose::User, "chmod 700 " + own.path, ""}};
    return std::nullopt;
  }

  // Why belay could not use it; empty when it can.
  std::string obstacle_at(const Meeting& meeting) const {
    if (const std::optional<Strange> strange = strange_at(meeting)) return strange->words;
    const Place& own = meeting.own;
    if (own.obstructed) return own.path + " is not a directory";
    if (own.present) return own.writable ? "" : own.path + " is not writable";
    const Place& around = meeting.around;
    if (!around.present) return around.path + " is missing";
    return around.writable ? "" : around.path + " is not writable";
  }

  void about_meeting_place() {
    if (alone()) {
      say(kShared, "meeting_place", "meeting place", Mark::Ok,
          "not needed: BELAY_MACHINE=private gives every process a machine of its own");
      return;
    }
    std::string obstacles;
    std::vector<Remedy> remedies;
    for (const Meeting& meeting : host_.meetings) {
      const std::string obstacle = obstacle_at(meeting);
      if (obstacle.empty()) {
        found_meeting_place(meeting, obstacles, std::move(remedies));
        return;
      }
      if (const std::optional<Strange> strange = strange_at(meeting)) remedies.push_back(strange->remedy);
      obstacles += (obstacles.empty() ? "" : ", ") + obstacle;
    }
    // Who names a machine or a place expects others there.
    const bool expected = !wishes_.machine.empty() || !wishes_.machines.empty();
    remedies.push_back({Whose::Setting, "export BELAY_MACHINES=$HOME/.belay", "a directory of your own"});
    remedies.push_back({Whose::Setting, "export BELAY_MACHINE=private", "a machine for each process"});
    say(kShared, "meeting_place", "meeting place", expected ? Mark::Problem : Mark::Note,
        fmt::format("none: {}; {}", obstacles,
                    expected ? "every call that needs the machine will return 507033"
                             : "every process has a machine of its own, and says so on stderr"),
        std::move(remedies));
  }

  // `remedies` are against what is strange: processes say on stderr that it is there.
  void found_meeting_place(const Meeting& meeting, const std::string& obstacles,
                           std::vector<Remedy> remedies) {
    const bool strange = !remedies.empty();
    diagnosis_.uses.meeting_place = meeting.own.path;
    const Place& around = meeting.around;
    const bool full = around.free_bytes == std::size_t{0};
    std::string text = meeting.own.path;
    if (full) text += ", but no space is left there";
    if (!obstacles.empty()) text += fmt::format("; {}", obstacles);
    if (strange) text += ", and every process says so on stderr";
    if (full && in_container()) {
      remedies.push_back({Whose::Container, "docker run --shm-size=1g ...", ""});
    } else if (full && around.path == "/dev/shm") {
      remedies.push_back({Whose::Root, "sudo mount -o remount,size=50% /dev/shm", ""});
    }
    say(kShared, "meeting_place", "meeting place", full || strange ? Mark::Note : Mark::Ok, text,
        std::move(remedies));
  }

  void about_passing_memory() {
    if (alone()) return;
    const Remedy by_itself{Whose::Setting, "export BELAY_MACHINE=private", "a machine for each process"};
    if (trials_.memfd == Can::No || trials_.seals == Can::No) {
      say(kShared, "passing", "passing memory", Mark::Problem,
          "a file in memory for what processes share cannot be made or sealed; every call that needs the "
          "machine will return 507033",
          {by_itself});
    } else if (trials_.fd_links == Can::No) {
      say(kShared, "passing", "passing memory", Mark::Problem,
          "/proc/PID/fd cannot be opened, so processes cannot join each other and will get 507033",
          {{Whose::Root, "sudo mount -t proc proc /proc", "where /proc is not mounted"}, by_itself});
    } else if (trials_.long_file == Can::No) {
      say(kShared, "passing", "passing memory", Mark::Note,
          "processes share the accounts, but not memory: contents have no file that another process could "
          "open");
    } else if (trials_.dumpable == Can::No) {
      say(kShared, "passing", "passing memory", Mark::Note,
          "other processes of this user cannot open this one (set-uid, capabilities of its file, or a file "
          "that cannot be read)");
    } else {
      say(kShared, "passing", "passing memory", Mark::Ok,
          facts_.ptrace_scope ? fmt::format("through /proc/PID/fd, which Yama's ptrace_scope={} leaves open",
                                            *facts_.ptrace_scope)
                              : "through /proc/PID/fd");
    }
  }

  // --- limits -------------------------------------------------------------------------------------

  void about_open_files() {
    const ProcessLimit& limit = facts_.limits.open_files;
    if (!limit.soft || *limit.soft >= kFewFiles) {
      say(kLimits, "open_files", "open files", Mark::Ok,
          limit.soft ? fmt::format("{} at a time", *limit.soft) : "no limit");
      return;
    }
    std::vector<Remedy> remedies;
    if (user_may_raise(limit)) {
      remedies.push_back(
          ulimit('n', {limit.soft, std::min(limit.hard.value_or(4096), std::size_t{4096})}, 1));
    }
    if (limit.hard && *limit.hard < kFewFiles) {
      remedies.push_back({Whose::Root, "sudo prlimit --pid $$ --nofile=4096", "for this shell, at once"});
    }
    say(kLimits, "open_files", "open files", Mark::Note,
        fmt::format("{} at a time; belay takes a few, memory shared between processes one each", *limit.soft),
        std::move(remedies));
  }

  void about_mappings() {
    const std::optional<std::size_t>& most = facts_.max_map_count;
    const bool few = most && *most < kFewMappings;
    std::vector<Remedy> remedies;
    if (few) remedies.push_back({Whose::Root, "sudo sysctl vm.max_map_count=262144", ""});
    say(kLimits, "mappings", "mappings", !most || few ? Mark::Note : Mark::Ok,
        fmt::format("{} per process; many are needed only where host code dereferences much that is mapped: "
                    "managed memory, physical memory of the host or granted to it, device memory with "
                    "BELAY_HOST_ACCESS=allow (vm.max_map_count)",
                    most ? fmt::format("{}", *most) : "unknown"),
        std::move(remedies));
  }

  void about_overcommit() {
    if (!facts_.overcommit_memory) {
      say(kLimits, "overcommit", "overcommit", Mark::Note, "unknown");
    } else if (*facts_.overcommit_memory == 2) {
      say(kLimits, "overcommit", "overcommit", Mark::Note,
          "vm.overcommit_memory=2: the kernel counts memory before it is written, so pinned host memory and "
          "contents may be refused before memory is full",
          {{Whose::Root, "sudo sysctl vm.overcommit_memory=0", ""}});
    } else {
      say(kLimits, "overcommit", "overcommit", Mark::Ok,
          fmt::format("vm.overcommit_memory={}: memory counts when it is written",
                      *facts_.overcommit_memory));
    }
  }

  // --- settings -----------------------------------------------------------------------------------

  void about_settings() {
    if (wishes_.trouble.empty()) {
      say(kSettings, "settings", "variables", Mark::Ok, "no BELAY_ variable has a wrong value");
    } else {
      say(kSettings, "settings", "variables", Mark::Problem, wishes_.trouble);
    }
  }

  const Host& host_;
  const HostFacts& facts_;
  const HostTrials& trials_;
  const Wishes& wishes_;
  Diagnosis diagnosis_;
};

}  // namespace

bool Diagnosis::works() const {
  return std::ranges::find(findings, Mark::Problem, &Finding::mark) == findings.end();
}

Diagnosis diagnose(const Host& host, const Wishes& wishes) { return Doctor{host, wishes}.examine(); }

}  // namespace belay::cli
