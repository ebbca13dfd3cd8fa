// Finding the machine of a name, or founding it.
//
// Each machine has a directory of links to its members' open state (platform/common_memory.h). The state
// lives as long as one of them. A process that finds nobody alive founds the next generation; `lead.<n>` is
// made by exactly one process, because the kernel makes a link of a name once.
//
// Nobody waits here for another process longer than a second, and no lock is held.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "machine/meeting_place.h"
#include "machine/state.h"
#include "platform/common_memory.h"

namespace belay::machine {

// Every reason why a process gets no machine: it then sees no device, and this says why.
inline Refusal no_machine(std::string what, std::string cause, std::string solution) {
  return refuse({ACL_ERROR_RT_DEV_SETUP_ERROR, "D-52", "EE2002", std::move(what), std::move(cause),
                 std::move(solution)});
}

struct Place {
  std::string directory;  // of all machines of this user
  std::string trouble;    // why there is none
  std::string strange{};  // what has the name of a usual place and is not this user's own; a person must know
  bool named = false;     // BELAY_MACHINES says so
};
// Where the machines of this user meet: the directory named by BELAY_MACHINES, else the first of the usual
// places that can be used. All processes of a user have to choose the same, so nothing in this choice may
// differ between a login, a batch job and a daemon.
Place discovery_directory(const std::string& wished);
// belay-<user> in /dev/shm, then in /tmp. Others may have taken these names, so then one in the user's home.
std::vector<std::string> usual_places();

struct Joined {
  platform::CommonMemory memory;
  MeetingPlace place;
  std::uint64_t joined_at = 0;
};

// `header` is what a new state begins with, apart from generation and check. A refusal tells in words
// why this machine cannot be joined.
Result<Joined> discover(const Place& place, const std::string& name, const Header& header);

// Only looks; empty memory when nobody is on the machine, or when those who are cannot be reached: `trouble`.
struct LookedIn {
  Joined joined;
  std::string trouble;
};
LookedIn look_in(const MeetingPlace& place);

// Takes this process's link away again, after it found that it cannot stay.
void leave(const Joined& joined);

// Names of machines that have a directory, live or not.
std::vector<std::string> machines_at(const Place& place);
MeetingPlace meeting_place(const Place& place, const std::string& name);

// What is wrong with a state, in words; empty when nothing is.
std::string fault_in(const platform::CommonMemory& memory);

}  // namespace belay::machine
