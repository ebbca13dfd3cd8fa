// Work to do when a thread ends, without the heap.
//
// Where C++ is to destroy an object of a thread and there is no memory to remember that, the C library ends
// the program. Here the answer is no, and the thread does without.
#pragma once

namespace belay::platform {

// Has `act` called when this thread ends, after the thread's own objects are gone, newest first. Once for
// each time it is asked for. The main thread ends with the process, and nothing is called then. False: it
// cannot be done, or there are too many already.
bool at_thread_end(void (*act)());

}  // namespace belay::platform
