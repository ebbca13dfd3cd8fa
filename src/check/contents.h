// Finds device memory that is read though nobody has written it (M-417), byte by byte.
//
// What is known of a byte belongs to its memory, not to its address: mappings of the same physical memory
// share it, and copies on the device carry it along. Told is what comes out: bytes that reach the host, and
// words that end a wait. What was told counts as written from then on, so that one mistake is told once.
#pragma once

#include <cstddef>

#include "memory/memory.h"

namespace belay::check {

void watch_contents(Memory& memory);
void stop_watching_contents();
// Reports what was found under locks of the runtime, and has not been told since.
void tell_pending_contents();
void forget_contents();  // in the child of a fork

// How much memory it takes to know this.
std::size_t contents_memory();

}  // namespace belay::check
