// Where in the program a call was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace belay::platform {

// Return addresses of the calling thread, innermost first, from the one that a call of the interface returns
// to on; returns how many there are. That address is `caller`; 0 where it is not known: then from the first
// frame outside of this library, or, in a program that contains the library, from the caller of this
// function.
std::size_t call_stack(std::uintptr_t caller, std::span<std::uintptr_t> returns);

// The same for a thread that a signal has stopped at an instruction, from the handler.
std::size_t stack_at_fault(std::uintptr_t instruction, std::span<std::uintptr_t> returns);

// Loads what makes walking a stack cheap, if this system has it (libunwind); else it takes microseconds. Not
// in a signal handler.
void prepare_call_stacks();

// Whether that is there: else walking is nothing for a signal handler.
bool walks_quickly();

// Whether an instruction belongs to this library; never in a program that contains it.
bool in_this_library(std::uintptr_t instruction);

}  // namespace belay::platform
