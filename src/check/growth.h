// What a program makes between two marks and does not give back before the second: a cache that grows, a loop
// that leaks.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "memory/memory.h"
#include "observe/event.h"

namespace belay::check {

// Sets a mark, and returns how many objects are alive that were made since the one before. Each group of them
// is a finding, where the program is checked for leaks. The first mark of a process finds nothing.
std::size_t set_mark(Memory& memory, const std::vector<observe::Alive>& others);
// The same where there is no runtime, so that nothing is alive.
void set_mark_at_nothing();
// The runtime ends: what was alive at the mark is gone, and serial numbers begin anew.
void clear_mark();
void forget_marks();  // in the child of a fork

}  // namespace belay::check
