// Host memory of queued work (M-270): given back, gone with the function whose local variable it was, changed
// or, if that is watched, read, before the program waited for the work. And host memory that is not pinned,
// which made a call wait that is meant to return at once (M-265).
#pragma once

#include "memory/memory.h"

namespace belay::check {

struct HostBufferWishes {
  bool buffers, changes, hints;
  bool accesses;  // of host code to destinations, before the wait
};
void watch_host_buffers(Memory& memory, const HostBufferWishes& wishes);
void stop_watching_host_buffers();
// Whether pinned memory that is freed too early is told of here.
bool watches_host_buffers();

// At the end: the calls that had to wait.
void report_blocked_calls();
void forget_blocked_calls();  // in the child of a fork

}  // namespace belay::check
