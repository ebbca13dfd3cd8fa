// Device memory was touched from outside: by host code, or by a call that was given a device address where it
// takes one of the host.
#pragma once

#include "check/fault_words.h"
#include "memory/memory.h"

namespace belay::check {

void explain_host_touch(Memory& memory, const Toucher& toucher, const platform::Fault& fault,
                        FaultWords& words);

}  // namespace belay::check
