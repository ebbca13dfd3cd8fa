// A pointer to host memory led nowhere: inside a call or a task of ours, which followed what the program gave
// it, or in the program itself, where belay had handed the memory out (C-26).
#pragma once

#include "check/fault_words.h"
#include "memory/memory.h"

namespace belay::check {

// Says nothing where it is none of our business. No memory: the runtime has ended.
void explain_dead_pointer(Memory* memory, const Toucher& toucher, const platform::Fault& fault,
                          FaultWords& words);

}  // namespace belay::check
