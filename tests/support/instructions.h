// Work whose instructions a process counts itself, to be killed or stopped between any two of them.
#pragma once

#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <limits>

namespace belay_test {

// The thread sanitizer may put signals off.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
inline constexpr bool kCountsInstructions = true;
#else
inline constexpr bool kCountsInstructions = false;
#endif

inline constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();
inline std::uint64_t instructions_taken = 0, instruction_of_the_signal = kNever;
inline int signal_to_itself = SIGKILL;

#if defined(__x86_64__)
inline constexpr std::uint64_t kTrapFlag = 0x100;  // of the processor: a trap after each instruction

inline void count_an_instruction(int, siginfo_t*, void* context) {
  if (instructions_taken++ != instruction_of_the_signal) return;
  ::kill(::getpid(), signal_to_itself);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL] &= ~static_cast<greg_t>(kTrapFlag);
}
inline void set_trap(bool on) {
  const std::uint64_t flags = __builtin_ia32_readeflags_u64();
  __builtin_ia32_writeeflags_u64(on ? flags | kTrapFlag : flags & ~kTrapFlag);
}
#endif

struct Counted {
  int code = 0;
  std::uint64_t instructions = 0;
};
// The process sends itself a signal (SIGKILL, SIGSTOP) after so many instructions of the work, or at its end
// if there are fewer. With kNever it does not; the answer tells how many instructions there were.
inline Counted count_instructions([[maybe_unused]] std::uint64_t instructions, [[maybe_unused]] int signal,
                                  const std::function<int()>& work) {
  Counted answer;
#if defined(__x86_64__)
  struct sigaction action {};
  action.sa_sigaction = count_an_instruction;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGTRAP, &action, nullptr);
  instructions_taken = 0;
  instruction_of_the_signal = instructions;
  signal_to_itself = signal;
  set_trap(true);
  answer.code = work();
  set_trap(false);
  answer.instructions = instructions_taken;
  if (instructions != kNever && instructions_taken <= instructions) ::kill(::getpid(), signal);
#else
  answer.code = work();
#endif
  return answer;
}

}  // namespace belay_test
