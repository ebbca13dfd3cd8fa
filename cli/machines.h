// Which machines there are, and which one a command means.
#pragma once

#include <string>
#include <vector>

#include "machine/machine.h"

namespace belay::cli {

// Where the machines of this user are. Throws UsageError when processes have no place to meet.
machine::Place find_place();

// The machine of that name; without one that of BELAY_MACHINE, else the default one. Throws UsageError for
// what is not the name of a machine.
std::string choose_machine(const std::string& given);

// `private` names no machine: each process then has one of its own. Says so.
[[noreturn]] void refuse_private(const std::string& where_it_stands);

// Every machine that has a directory there, by name. Whatever else lies there is left out.
std::vector<std::string> machine_names(const machine::Place& place);
std::vector<machine::Seen> all_machines(const machine::Place& place);

// What nobody is on, as the machine that a process with the present settings would found. Throws UsageError
// for a setting that makes no sense.
machine::Seen as_settings_say(machine::Seen seen);

// "running", "idle" or "damaged".
std::string_view state_word(const machine::Seen& seen);

// "12 (train), 13 (eval)", and only how many more behind the first few.
std::string process_list(const std::vector<machine::ProcessSeen>& processes);

}  // namespace belay::cli
