// Runs a test body in a process of its own.
//
// The library keeps state for the process's life. A body that needs to be the first to call anything runs in
// a forked child: after fork the library starts afresh there.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <functional>

namespace belay_test {

// The child's wait status; its gtest failures are printed there.
inline int run_in_fresh_process(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return status;
}

// EXPECTs inside the body count: the test fails if the child fails or dies.
inline void in_fresh_process(const std::function<void()>& body) {
  const int status = run_in_fresh_process(body);
  EXPECT_TRUE(WIFEXITED(status)) << "the child was killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the child reports failures (above)";
}

}  // namespace belay_test
