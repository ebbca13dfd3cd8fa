// Looks for mistakes of the program (BELAY_CHECK), and reports each as a finding.
#pragma once

#include <string>

#include "base/error.h"
#include "base/misuse.h"
#include "memory/memory.h"

namespace belay::check {

// From now on, until it stops; under the lock under which the runtime is made. Off: nothing is looked for.
void start_checking(Memory& memory, const CheckSettings& settings);
void stop_checking();

// A call was refused: told by the door.
void hear_refusal(const char* function, const Error& error, std::uint32_t site);

// At exit: what is left, how many were found; returns the code that the process should end with, 0 for its
// own.
int end_checking();
void forget_checking();  // in the child of a fork

}  // namespace belay::check
