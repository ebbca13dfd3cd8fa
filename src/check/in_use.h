// Memory that is given back while queued work still needs it (M-114, V-19, V-20): allowed on hardware, where
// the work then reads and writes what is somebody else's.
#pragma once

#include "memory/memory.h"

namespace belay::check {

void watch_use(Memory& memory);
void stop_watching_use();

}  // namespace belay::check
