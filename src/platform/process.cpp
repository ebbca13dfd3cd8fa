#include "platform/process.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace belay::platform {
namespace {

// The distance of local time from UTC, asked once while the library is loaded: the C library's conversions
// take a lock that a fork on another thread would leave locked in the child for ever.
long seconds_east() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  return local.tm_gmtoff;
}
const long g_seconds_east = seconds_east();

std::string now_as(const char* pattern) {
  using namespace std::chrono;
  const auto now = floor<microseconds>(system_clock::now() + seconds{g_seconds_east});
  const auto day = floor<days>(now);
  const year_month_day date{day};
  const hh_mm_ss time{now - day};
  const long micro = time.subseconds().count();
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), pattern, static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), time.hours().count(),
                static_cast<long>(time.minutes().count()), static_cast<long>(time.seconds().count()),
                micro / 1000, micro % 1000);
  return text.data();
}

}  // namespace

std::int32_t process_id() { return static_cast<std::int32_t>(::getpid()); }
std::int32_t thread_id() { return static_cast<std::int32_t>(::syscall(SYS_gettid)); }
std::string process_name() { return program_invocation_short_name; }

std::string time_stamp() { return now_as("%04d-%02u-%02u-%02ld:%02ld:%02ld.%03ld.%03ld"); }
std::string time_digits() { return now_as("%04d%02u%02u%02ld%02ld%02ld%03ld%03ld"); }

void in_forked_child(void (*handler)()) { ::pthread_atfork(nullptr, nullptr, handler); }

}  // namespace belay::platform
