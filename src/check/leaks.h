// Blocks that are still alive when a device closes, at finalisation and at exit (M-409, M-411, R-41).
#pragma once

#include "memory/memory.h"

namespace belay::check {

// Starts listening; the memory must live for ever.
void report_leaks(Memory& memory);
// At exit: what no earlier report has listed.
void report_leaks_at_exit();
void stop_reporting_leaks();

}  // namespace belay::check
