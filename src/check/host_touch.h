// Host code touched device memory: says so in plain words, then lets the signal take its course.
#pragma once

#include "memory/memory.h"

namespace belay::check {

// From now on a fault inside the device window is explained. The memory must live for ever.
void explain_host_touches(Memory& memory);
void stop_explaining();

}  // namespace belay::check
