// Runs a body, or this test program once more, in a child whose output is kept and whose time is limited.
//
// Unlike in_fresh_process the child ends as the body wishes: it may return, call exit, or die.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "support/fresh_process.h"

namespace belay_test {

struct Ending {
  int status = 0;
  bool hung = false;
  std::string out;  // what it printed to stdout
  std::string err;  // and to stderr
  bool clean() const { return !hung && WIFEXITED(status) && WEXITSTATUS(status) == 0; }
  bool killed_by(int signal) const { return !hung && WIFSIGNALED(status) && WTERMSIG(status) == signal; }
};

inline std::ostream& operator<<(std::ostream& to, const Ending& ending) {
  if (ending.hung) to << "hung; ";
  if (WIFEXITED(ending.status)) to << "exit code " << WEXITSTATUS(ending.status);
  if (WIFSIGNALED(ending.status)) to << "signal " << WTERMSIG(ending.status);
  return to << "\nstdout: " << ending.out << "\nstderr: " << ending.err;
}

// Reads both pipes until they are closed or the time is up, then fetches the child.
inline Ending collect(pid_t child, int out, int err, int seconds) {
  Ending ending;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{seconds};
  std::array<pollfd, 2> pipes{pollfd{out, POLLIN, 0}, pollfd{err, POLLIN, 0}};
  std::array<std::string*, 2> texts{&ending.out, &ending.err};
  bool open = true;
  while (open) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      ending.hung = true;
      ::kill(child, SIGKILL);
      break;
    }
    ::poll(pipes.data(), pipes.size(), static_cast<int>(left));
    open = false;
    for (std::size_t i = 0; i < pipes.size(); ++i) {
      if (pipes[i].fd < 0) continue;
      if (pipes[i].revents != 0) {
        std::array<char, 4096> buffer{};
        const ssize_t got = ::read(pipes[i].fd, buffer.data(), buffer.size());
        if (got <= 0) {
          pipes[i].fd = -1;
          continue;
        }
        texts[i]->append(buffer.data(), static_cast<std::size_t>(got));
      }
      open = true;
    }
  }
  while (::waitpid(child, &ending.status, 0) < 0) {
  }
  ::close(out);
  ::close(err);
  return ending;
}

inline Ending run_captured(const Settings& settings, const std::function<void()>& body, int seconds = 120) {
  std::fflush(nullptr);
  std::array<int, 2> out{}, err{};
  EXPECT_EQ(::pipe(out.data()), 0);
  EXPECT_EQ(::pipe(err.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    for (const int file : {out[0], out[1], err[0], err[1]}) ::close(file);
    for (const auto& [name, value] : settings) ::setenv(name.c_str(), value.c_str(), 1);
    body();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  ::close(out[1]);
  ::close(err[1]);
  return collect(child, out[0], err[0], seconds);
}

// Starts this program afresh with only the current test in it and `scenario` in the variable
// TEST_SCENARIO; the test looks there to know that it is the child.
inline Ending run_this_test_as(const std::string& scenario, const Settings& settings = {},
                               int seconds = 120) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  const std::string filter = std::string{"--gtest_filter="} + test->test_suite_name() + "." + test->name();
  return run_captured(
      settings,
      [&] {
        ::setenv("TEST_SCENARIO", scenario.c_str(), 1);
        ::unsetenv("GTEST_OUTPUT");
        std::string program = "/proc/self/exe", no_color = "--gtest_color=no", argument = filter;
        std::array<char*, 4> arguments{program.data(), argument.data(), no_color.data(), nullptr};
        ::execv(program.c_str(), arguments.data());
        ::_exit(127);
      },
      seconds);
}

// The scenario this process was started for; empty in the parent.
inline std::string scenario() {
  const char* const text = std::getenv("TEST_SCENARIO");
  return text == nullptr ? std::string{} : std::string{text};
}

}  // namespace belay_test
