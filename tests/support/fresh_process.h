// Runs a test body in a process of its own, with settings of its own.
//
// The library reads its settings once per process and keeps state for the process's life. A body that
// needs other settings, or needs to be the first to call anything, runs in a forked child: after fork
// the library starts afresh there and reads the environment again.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace belay_test {

using Settings = std::vector<std::pair<std::string, std::string>>;

// The child's wait status; its gtest failures are printed there.
inline int run_in_fresh_process(const Settings& settings, const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const auto& [name, value] : settings) ::setenv(name.c_str(), value.c_str(), 1);
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
inline void in_fresh_process(const Settings& settings, const std::function<void()>& body) {
  const int status = run_in_fresh_process(settings, body);
  EXPECT_TRUE(WIFEXITED(status)) << "the child was killed by signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the child reports failures (above)";
}

}  // namespace belay_test
