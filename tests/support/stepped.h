// A member that is led through a call step by step, and can be left or killed between any two.
#pragma once

#include <sys/ptrace.h>
#include <ucontext.h>

#include <limits>

#include "support/members.h"

namespace belay_test {

// --- by system calls, led by the test -------------------------------------------------------------------

// The work of a member between two signals that only its tracer sees.
inline Answer under_trace(const std::function<int()>& work) {
  Answer answer;
  for (const int signal : {SIGUSR1, SIGUSR2}) (void)::signal(signal, SIG_IGN);
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
    answer.code = -2;
    return answer;
  }
  ::raise(SIGUSR1);
  answer.code = work();
  ::raise(SIGUSR2);
  return answer;
}

inline bool tracing_works() {
  const Member child{{}, [](const Order&) { return under_trace([] { return 7; }); }};
  child.send({Do::own});
  int status = 0;
  if (::waitpid(child.process(), &status, WUNTRACED) < 0 || !WIFSTOPPED(status)) return false;
  if (WSTOPSIG(status) != SIGUSR1) return false;
  return ::ptrace(PTRACE_SYSCALL, child.process(), nullptr, nullptr) == 0 &&
         ::waitpid(child.process(), &status, 0) == child.process() && WIFSTOPPED(status);
}

class Stepped {
 public:
  // The member has been sent an order whose function calls under_trace.
  explicit Stepped(const Member& member) : process_{member.process()} {
    int status = 0;
    EXPECT_EQ(::waitpid(process_, &status, WUNTRACED), process_);
    EXPECT_TRUE(WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1);
    ::ptrace(PTRACE_SETOPTIONS, process_, nullptr, PTRACE_O_TRACESYSGOOD);
  }
  // False when the work is over.
  bool take(std::uint64_t system_calls) {
    for (std::uint64_t i = 0; i < system_calls && !over_; ++i) {
      int status = 0;
      if (::ptrace(PTRACE_SYSCALL, process_, nullptr, nullptr) != 0 ||
          ::waitpid(process_, &status, 0) != process_) {
        ADD_FAILURE() << "process " << process_ << " cannot be led";
        over_ = true;
      } else if (!WIFSTOPPED(status)) {
        ADD_FAILURE() << "process " << process_ << " ended by itself";
        over_ = true;
      } else {
        over_ = WSTOPSIG(status) == SIGUSR2;
      }
    }
    return !over_;
  }
  void let_go() const { ::ptrace(PTRACE_DETACH, process_, nullptr, nullptr); }

 private:
  pid_t process_;
  bool over_ = false;
};

// --- by instructions, which the process counts itself ---------------------------------------------------

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

// The process sends itself a signal (SIGKILL, SIGSTOP) after so many instructions of the work, or at its end
// if there are fewer. With kNever it does not; the answer tells how many instructions there were.
inline Answer with_a_signal_after([[maybe_unused]] std::uint64_t instructions, [[maybe_unused]] int signal,
                                  const std::function<int()>& work) {
  Answer answer;
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
  answer.first = instructions_taken;
  if (instructions != kNever && instructions_taken <= instructions) ::kill(::getpid(), signal);
#else
  answer.code = work();
#endif
  return answer;
}

}  // namespace belay_test
