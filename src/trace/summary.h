// What happened to memory, as a table at exit (BELAY_SUMMARY=on; `belay run` turns it on).
#pragma once

#include "memory/memory.h"

namespace belay::trace {

void keep_summary(Memory& memory);
void print_summary();

}  // namespace belay::trace
