// Memory that is given back while queued work still needs it (M-114, V-19, V-20): allowed on hardware, where
// the work then reads and writes what is somebody else's.
#pragma once

#include "memory/memory.h"

namespace belay::check {

void watch_use(Memory& memory);
void stop_watching_use();
// Whether it was reported that the memory of this task is gone: then it need not be told again that it fails.
bool is_doomed(std::uint64_t task);

}  // namespace belay::check
