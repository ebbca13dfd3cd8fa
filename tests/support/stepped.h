// A member that is led through a call step by step, and can be left or killed between any two.
#pragma once

#include <sys/ptrace.h>

#include "support/instructions.h"
#include "support/members.h"

#define NEEDS_TRACING() \
  if (!tracing_works()) GTEST_SKIP() << "processes may not be traced here (seccomp, Yama or a debugger)"

#define NEEDS_COUNTING()    \
  if (!kCountsInstructions) \
  GTEST_SKIP() << "only x86-64 processors are asked to trap after each instruction, and not under TSan"

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

inline Answer with_a_signal_after(std::uint64_t instructions, int signal, const std::function<int()>& work) {
  const Counted counted = count_instructions(instructions, signal, work);
  Answer answer;
  answer.code = counted.code;
  answer.first = counted.instructions;
  return answer;
}

}  // namespace belay_test
