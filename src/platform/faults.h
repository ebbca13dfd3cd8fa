// Being told of a fault, and stepping aside.
//
// The observer hears the address of every SIGSEGV and SIGBUS that the kernel raised for a memory access.
// It must be silent and quick for addresses that are not its own: other users of these signals (language
// runtimes) are called right after, as if we were not there. It runs in a signal handler.
#pragma once

#include <cstdint>

namespace belay::platform {

using FaultObserver = void (*)(std::uintptr_t address, bool write);

void observe_faults(FaultObserver observer);

// Writes to standard error from a signal handler.
void write_error(const char* text);

}  // namespace belay::platform
