// What happened to memory, as a table (BELAY_SUMMARY=on; `belay run` turns it on).
//
// A process prints it at its end; one that `belay run` has started leaves that to it (run_record.h).
#pragma once

#include <cstdint>
#include <string>

#include "memory/memory.h"

namespace belay::trace {

struct SummaryWish {
  std::string soc;
  std::uint32_t devices = 0;  // of the machine
  std::string run;            // the memory of `belay run`; empty: none
};
// Counting goes on where it was, if the machine is the same as before a restart.
void keep_summary(Memory& memory, const SummaryWish& wish);
void drop_summary();
// The process is also traced, as that one of its file; `belay run` reads what it left in its rings.
void note_traced(std::uint32_t number);
// At exit.
void print_summary();
// In a forked child: what was counted is the parent's.
void forget_summary();

}  // namespace belay::trace
