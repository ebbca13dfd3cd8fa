#include "platform/process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include "platform/files.h"

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
std::int32_t parent_process_id() { return ::getppid(); }
std::int32_t thread_id() { return static_cast<std::int32_t>(::syscall(SYS_gettid)); }
std::string process_name() { return program_invocation_short_name; }

namespace {

struct ProcessStat {
  char state = 0;
  std::uint64_t threads = 0, start = 0;
};
std::optional<ProcessStat> stat_of(std::int32_t process) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", process);
  const int file = ::open(path.data(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 1024> text{};
  const ssize_t got = ::read(file, text.data(), text.size() - 1);
  ::close(file);  // leaves errno alone
  if (got <= 0) return std::nullopt;
  // The name in parentheses may hold anything; state, threads and start are the fields 3, 20 and 22.
  const char* at = std::strrchr(text.data(), ')');
  ProcessStat stat;
  for (int field = 3; at != nullptr && field <= 22; ++field) {
    at = std::strchr(at + 1, ' ');
    if (at == nullptr) return std::nullopt;
    if (field == 3) stat.state = at[1];
    if (field == 20) stat.threads = std::strtoul(at, nullptr, 10);
    if (field == 22) stat.start = std::strtoul(at, nullptr, 10);
  }
  if (at == nullptr) return std::nullopt;
  return stat;
}

}  // namespace

std::optional<std::uint64_t> start_time(std::int32_t process) {
  const std::optional<ProcessStat> stat = stat_of(process);
  return stat ? std::optional{stat->start} : std::nullopt;
}

std::uint64_t ticks_now() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  static const auto per_second = static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
  return static_cast<std::uint64_t>(now.tv_sec) * per_second +
         static_cast<std::uint64_t>(now.tv_nsec) * per_second / 1'000'000'000;
}

bool random_bytes(void* into, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(into);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t more = ::getrandom(at + done, bytes - done, 0);
    if (more > 0) {
      done += static_cast<std::size_t>(more);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

bool surely_gone(std::int32_t process, std::uint64_t start) {
  errno = 0;
  const std::optional<ProcessStat> stat = stat_of(process);
  if (!stat) return errno == ENOENT || errno == ESRCH;
  // Dead and not yet waited for; with threads left, only its first one has ended.
  const bool zombie = (stat->state == 'Z' || stat->state == 'X') && stat->threads <= 1;
  return zombie || stat->start != start;
}

std::string boot_id() {
  std::string text = read_file("/proc/sys/kernel/random/boot_id", 256).text;
  text.erase(std::min(text.find('\n'), text.size()));
  return text.find_first_not_of("0123456789abcdef-") == std::string::npos ? text : std::string{};
}

std::uint64_t process_number_space() {
  struct stat about {};
  return ::stat("/proc/self/ns/pid", &about) == 0 ? about.st_ino : 0;
}

namespace {

enum class Reading : std::uint8_t { Found, NotFound, Empty, Refused };
Reading look_for(const std::string& path, std::uint64_t inode, const char* name) {
  std::FILE* maps = std::fopen(path.c_str(), "re");
  if (maps == nullptr) return errno == EACCES || errno == EPERM ? Reading::Refused : Reading::Empty;
  Reading answer = Reading::Empty;
  std::array<char, 512> line{};
  while (answer != Reading::Found && std::fgets(line.data(), line.size(), maps) != nullptr) {
    std::uint64_t here = 0;
    const bool same = std::sscanf(line.data(), "%*s %*s %*s %*s %" SCNu64, &here) == 1 &&
                      (here == inode || inode == 0) && std::strstr(line.data(), name) != nullptr;
    answer = same ? Reading::Found : Reading::NotFound;
  }
  if (answer != Reading::Found && std::ferror(maps) != 0 && errno != ESRCH) answer = Reading::Refused;
  std::fclose(maps);
  return answer;
}

}  // namespace

std::vector<std::string> threads_of(std::int32_t process) {
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  std::vector<std::string> threads;
  for (const std::string& each : files_with_prefix(tasks, "")) {
    if (each[0] != '.') threads.push_back(tasks + "/" + each);
  }
  return threads;
}

Maps has_mapped(std::int32_t process, std::uint64_t inode, const char* name) {
  Reading reading = look_for("/proc/" + std::to_string(process) + "/maps", inode, name);
  if (reading == Reading::Empty) {
    for (const std::string& thread : threads_of(process)) {
      reading = look_for(thread + "/maps", inode, name);
      if (reading != Reading::Empty) break;
    }
  }
  if (reading == Reading::Found) return Maps::Yes;
  return reading == Reading::Refused ? Maps::Unknown : Maps::No;
}

std::uint64_t clock_ticks() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void sleep_briefly() { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }

void end_process_at_once(int code) {
  (void)std::fflush(nullptr);
  ::_exit(code);
}

std::string time_stamp() { return now_as("%04d-%02u-%02u-%02ld:%02ld:%02ld.%03ld.%03ld"); }
std::string time_digits() { return now_as("%04d%02u%02u%02ld%02ld%02ld%03ld%03ld"); }

void wait_for_end(std::int32_t process) {
  constexpr int kSecond = 1000;  // ms
  const auto file = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  pollfd ends{file, POLLIN, 0};  // of no file: only the time passes
  ::poll(&ends, 1, kSecond);
  if (file >= 0) ::close(file);
}

void in_forked_child(void (*handler)()) { ::pthread_atfork(nullptr, nullptr, handler); }

}  // namespace belay::platform
