// Why a request for device memory did not fit: who holds what, what of it nobody asked for, and what would
// have fitted.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "memory/memory.h"

namespace belay::check {

// To standard error and the log, once in a process: a program that tries again need not hear it again.
void explain_shortage(Memory& memory, const char* function, const Shortage& shortage, std::uint32_t site);

}  // namespace belay::check
