#include "cli/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <ctime>

#include "cli/command.h"

namespace belay::cli {
namespace {

constexpr double kLeast = 0.1;
constexpr double kMost = 86400;

timespec as_timespec(double seconds) {
  const double whole = std::floor(seconds);
  return {static_cast<time_t>(whole), static_cast<long>((seconds - whole) * 1e9)};
}

}  // namespace

double read_seconds(std::string_view text) {
  double seconds = 0;
  const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool number = trouble == std::errc{} && end == text.data() + text.size();
  if (!number || !(seconds >= kLeast && seconds <= kMost)) {
    throw UsageError{
        fmt::format("--watch got '{}'", text),
        fmt::format("it takes a number of seconds from {} to {}, or nothing, which is 1", kLeast, kMost)};
  }
  return seconds;
}

void watch(double seconds, const std::function<std::string()>& draw) {
  // Ctrl-C is kept waiting while something is drawn, so that what was begun is always whole, and is taken
  // between two times.
  sigset_t interrupt;
  ::sigemptyset(&interrupt);
  ::sigaddset(&interrupt, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);
  const char* clear = ::isatty(STDOUT_FILENO) != 0 ? "\033[H\033[2J" : "";
  const timespec pause = as_timespec(seconds);
  do {
    fmt::print("{}{}", clear, draw());
    if (std::fflush(stdout) != 0) return;  // nobody can read on
  } while (::sigtimedwait(&interrupt, nullptr, &pause) != SIGINT);
}

}  // namespace belay::cli
