// How a program uses its memory, place by place, for hints about what works and costs: small blocks that are
// made and freed again and again (M-94, M-432), huge pages that stay nearly empty, blocks that nothing was
// ever done with, blocks that are kept long after their last use. Told at the end, when it is known how much
// it was.
#pragma once

#include "memory/memory.h"

namespace belay::check {

// `uses`: the last two as well, for which every access must be heard.
void watch_habits(Memory& memory, bool uses);
void stop_watching_habits();
// What there is to say; once.
void tell_habits();
void forget_habits();  // in the child of a fork

}  // namespace belay::check
