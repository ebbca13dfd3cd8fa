// Being told of a fault, and stepping aside.
//
// The observer hears of every SIGSEGV and SIGBUS that the kernel raised for a memory access. It must be
// silent and quick where that is not its own affair: other users of these signals (language runtimes) are
// called right after, as if we were not there. It runs in a signal handler, on the thread that made the
// access.
#pragma once

#include <cstdint>

namespace belay::platform {

struct Fault {
  enum class Why : std::uint8_t {
    NotMapped,
    NotAllowed,  // there is memory, but not for this
    NoBytes,     // the file behind it ends before, or its machine has no room for it
    NoAddress,   // no address of this processor at all, so that it is not known which
  };
  std::uintptr_t address;
  Why why;
  bool write;           // known on x86-64 only
  std::uintptr_t code;  // the instruction
};
using FaultObserver = void (*)(const Fault& fault);

void observe_faults(FaultObserver observer);

// Asked before the observer, on the same terms, of faults of memory that may not be accessed (SIGSEGV). True:
// it may now, and the instruction is executed again; nobody else hears of it.
using FaultMender = bool (*)(const Fault& fault);
void mend_faults(FaultMender mender);

// Told when the process is about to end by SIGABRT (abort, a failed assertion), before whoever had that
// signal before.
void observe_aborts(void (*observer)());

// The function of this library that a program can call, around an instruction; null: there is none, or it is
// one of our own behind them. `inside` tells whether the instruction is this library's at all.
const char* function_around(std::uintptr_t code, bool& inside);

}  // namespace belay::platform
