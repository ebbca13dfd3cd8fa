// Judges what copies, fills and queued work access, each where it is told: at the call, also for queued work,
// whose line in the program is there. Only work that finds its addresses when it runs is judged after that.
#pragma once

#include "base/misuse.h"
#include "memory/memory.h"

namespace belay::check {

void judge_accesses(Memory& memory, const CheckSettings& settings);
void stop_judging_accesses();
// What was seen of queued work and is not told yet.
void tell_late_findings();

}  // namespace belay::check
