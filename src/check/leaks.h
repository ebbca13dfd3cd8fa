// What a program has made and never given back, listed when a device closes, at finalisation and at exit
// (M-409, M-411, R-41): blocks of devices, physical memory, mappings, pinned and registered host memory,
// reservations, managed memory, IPC keys and what was imported, streams, events, notifies, contexts and data
// buffers.
#pragma once

#include <functional>
#include <vector>

#include "memory/memory.h"
#include "observe/event.h"

namespace belay::check {

// All that is not memory: what is alive, and what ended with its context since the last question.
using LeftOver = std::function<std::vector<observe::Alive>()>;

// Starts listening; the memory must live for ever.
void report_leaks(Memory& memory, LeftOver left_over);
// At exit: what no earlier report has listed.
void report_leaks_at_exit();
void stop_reporting_leaks();

}  // namespace belay::check
