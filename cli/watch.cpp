#include "cli/watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
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

std::string time_with_zone() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  tm local{};
  ::localtime_r(&now.tv_sec,
                &local);  // looked up each time: a clock may be put forward while somebody watches
  const long minutes = std::labs(local.tm_gmtoff) / 60;
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}{}{:02}:{:02}", local.tm_year + 1900,
                     local.tm_mon + 1, local.tm_mday, local.tm_hour, local.tm_min, local.tm_sec,
                     now.tv_nsec / 1000000, local.tm_gmtoff < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

void watch(double seconds, const std::function<std::string()>& draw, Screen screen) {
  // Ctrl-C is kept waiting while something is drawn, so that what was begun is always whole, and is taken
  // between two times.
  sigset_t interrupt;
  ::sigemptyset(&interrupt);
  ::sigaddset(&interrupt, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &interrupt, nullptr);
  const char* clear = screen == Screen::Cleared && ::isatty(STDOUT_FILENO) != 0 ? "\033[H\033[2J" : "";
  const timespec pause = as_timespec(seconds);
  do {
    fmt::print("{}{}", clear, draw());
    if (std::fflush(stdout) != 0) return;  // nobody can read on
  } while (::sigtimedwait(&interrupt, nullptr, &pause) != SIGINT);
}

}  // namespace belay::cli
