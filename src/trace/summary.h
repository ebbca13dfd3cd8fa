// What happened to memory, as a table at exit (BELAY_SUMMARY=on; `belay run` turns it on).
#pragma once

#include <string>

#include "memory/memory.h"

namespace belay::trace {

void keep_summary(Memory& memory, const std::string& soc);
void print_summary();
void drop_summary();

}  // namespace belay::trace
