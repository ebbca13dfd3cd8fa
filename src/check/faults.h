// Faults that belay can explain, in plain words, before the signal takes its course: host code that touches
// device memory (host_touch.h), and pointers to host memory that are dead or wild (dead_pointer.h).
#pragma once

#include "memory/memory.h"

namespace belay::check {

// From now on. The memory must live until explaining stops.
void explain_faults(Memory& memory);
// `later`: what was known of host memory is still told, until somebody explains again or says otherwise.
void stop_explaining(bool later);

}  // namespace belay::check
