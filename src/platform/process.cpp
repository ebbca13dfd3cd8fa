#include "platform/process.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>

namespace belay::platform {
namespace {

struct Moment {
  std::tm local;
  long microseconds;
};
Moment now() {
  std::timespec time{};
  std::timespec_get(&time, TIME_UTC);
  Moment moment{};
  ::localtime_r(&time.tv_sec, &moment.local);
  moment.microseconds = time.tv_nsec / 1000;
  return moment;
}

std::string formatted(const char* pattern, const Moment& moment) {
  std::array<char, 64> text{};
  const std::tm& t = moment.local;
  std::snprintf(text.data(), text.size(), pattern, t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min,
                t.tm_sec, moment.microseconds / 1000, moment.microseconds % 1000);
  return text.data();
}

}  // namespace

std::int32_t process_id() { return static_cast<std::int32_t>(::getpid()); }
std::int32_t thread_id() { return static_cast<std::int32_t>(::syscall(SYS_gettid)); }
std::string process_name() { return program_invocation_short_name; }

std::string time_stamp() { return formatted("%04d-%02d-%02d-%02d:%02d:%02d.%03ld.%03ld", now()); }
std::string time_digits() { return formatted("%04d%02d%02d%02d%02d%02d%03ld%03ld", now()); }

void in_forked_child(void (*handler)()) { ::pthread_atfork(nullptr, nullptr, handler); }

}  // namespace belay::platform
