// Host code that reads or writes the destination of queued work before the program waited for the work
// (--watch-host). Its pages are closed (closed_pages.h); the access faults, is written down in the signal
// handler, and goes on. The finding is told by the next call.
#pragma once

namespace belay::check {

// From now on; under the lock under which the runtime is made.
void watch_early_accesses();
// What was seen since this was asked last. Not under a lock of ours.
void tell_early_accesses();
void forget_early_accesses();  // in the child of a fork

}  // namespace belay::check
