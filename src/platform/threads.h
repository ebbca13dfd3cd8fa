// Threads of our own, beside those of the program.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <string>

namespace belay::platform {

// Starts a thread that nobody joins. All signals are blocked on it: the program's handlers belong on the
// program's threads. False where the system has no room for another thread.
bool start_thread(const char* name, std::function<void()> body);

// In a handler for everything: whether it is no exception that came, but pthread_exit or pthread_cancel,
// which unwind a thread in the same way. (abi::__forced_unwind has a name, but what is caught by it is no
// object.)
inline bool thread_ends() { return std::current_exception() == nullptr; }
// A function of the program has ended the thread that it was called on, and with it a call of ours that
// cannot be left that way: says so, and ends the process.
[[noreturn]] void explain_ended_thread(const std::string& function, const char* rule);

// As programs name it to us.
inline std::uint64_t this_thread() { return static_cast<std::uint64_t>(::pthread_self()); }

// Whether this is the only thread there is. Once there was another, it may stay false.
bool is_only_thread();

// The stack that the system gave to this thread. Coroutines and handlers of signals may run elsewhere.
struct StackRange {
  std::uintptr_t start = 0, end = 0;  // both 0: not known
  bool holds(std::uintptr_t address) const { return address >= start && address < end; }
};
StackRange stack_of_this_thread();

unsigned processors();  // that this process may use

// As if every thread of this process had executed a full memory barrier. Slow (some microseconds), so that
// those who are often on the other side need none. False where the system does not let us (a sandbox may
// not).
[[nodiscard]] bool barrier_on_all_threads();

// A mutex that tries for a moment before it sleeps: for locks that are held for a few hundred instructions.
class SpinningMutex {
 public:
  SpinningMutex() { *mutex_.native_handle() = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP; }
  std::mutex& get() { return mutex_; }

 private:
  std::mutex mutex_;
};

// Waits a few nanoseconds in a loop that looks at memory.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

}  // namespace belay::platform
