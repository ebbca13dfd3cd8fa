// Runs a body in a child whose output is kept and whose time is limited.
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
#include <functional>
#include <string>
#include <vector>

namespace belay_test {

struct Ending {
  int status = 0;
  bool hung = false;
  std::string out;  // what it printed to stdout
  std::string err;  // and to stderr
  bool clean() const { return !hung && WIFEXITED(status) && WEXITSTATUS(status) == 0; }
  bool killed_by(int signal) const { return !hung && WIFSIGNALED(status) && WTERMSIG(status) == signal; }
};

// One space between words, for tables whose columns are as wide as they must be.
inline std::string single_spaced(const std::string& text) {
  std::string spaced;
  for (const char letter : text) {
    if (letter != ' ' || spaced.empty() || spaced.back() != ' ') spaced += letter;
  }
  return spaced;
}

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

struct Started {
  pid_t child;
  int out, err;
};
inline Started start_captured(const std::function<void()>& body) {
  std::fflush(nullptr);
  std::array<int, 2> out{}, err{};
  EXPECT_EQ(::pipe(out.data()), 0);
  EXPECT_EQ(::pipe(err.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    for (const int file : {out[0], out[1], err[0], err[1]}) ::close(file);
    body();
    std::fflush(nullptr);
    ::_exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  ::close(out[1]);
  ::close(err[1]);
  return {child, out[0], err[0]};
}

inline Ending run_captured(const std::function<void()>& body, int seconds = 120) {
  const Started started = start_captured(body);
  return collect(started.child, started.out, started.err, seconds);
}

// The same body in several children at once, which are told their number: for what mostly waits.
inline void expect_all_clean(int children, const std::function<void(int)>& body, int seconds = 120) {
  std::vector<Started> all;
  for (int i = 0; i < children; ++i) all.push_back(start_captured([&] { body(i); }));
  for (const Started& one : all) {
    const Ending ending = collect(one.child, one.out, one.err, seconds);
    EXPECT_TRUE(ending.clean()) << ending;
  }
}

}  // namespace belay_test
