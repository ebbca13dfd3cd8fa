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
void forget_marks();  // in the child of a fork, and where all ends

}  // namespace belay::check
