// Writes down what happens to memory, in a file that outlives the process (BELAY_TRACE; src/recording).
//
// Nearly every event is written down by the thread that it happens on, before the call goes on. Only blocks
// of the fast path wait in the ring of their thread, until it is full, another event of the thread comes, or
// a millisecond has passed: a thread of ours looks that often.
#pragma once

#include <cstdint>
#include <string>

#include "memory/memory.h"

namespace belay::trace {

struct TraceWish {
  std::string path;
  std::uint64_t limit = 0;
  std::string soc;
  unsigned stacks = 0;
  bool anew =
      false;  // what is in the file is thrown away, and the trace begins with the blocks that are alive
};

// While the runtime is made. Goes on where it was, if the machine is the same as before a restart. Empty: it
// is kept; else why not, in words.
std::string keep_trace(Memory& memory, const TraceWish& wish);
// With the runtime: before its devices end, and after. The file stays as it is.
void rest_trace();
void drop_trace();
bool is_tracing();
void end_trace();     // at exit
void forget_trace();  // in a forked child: it begins its own

}  // namespace belay::trace
