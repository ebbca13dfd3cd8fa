#include "machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <string_view>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace bench {
namespace {

// The first line "key : value" of /proc/cpuinfo.
std::string cpu_fact(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with(key) && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "";
}

const char* virtual_machine() {
#if defined(__x86_64__)
  return (" " + cpu_fact("flags") + " ").find(" hypervisor ") != std::string::npos ? "yes" : "no";
#else
  return "unknown";  // other processors do not tell in /proc/cpuinfo
#endif
}

// Entries of the last TLB level for data on 4 KB and 2 MB pages. AMD tells in one CPUID leaf (0x80000006);
// others tell in other ways, and 0 means that it is not known.
nlohmann::json tlb_entries() {
  unsigned for_2m = 0, for_4k = 0;
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (cpu_fact("vendor_id") == "AuthenticAMD" && __get_cpuid(0x80000006, &eax, &ebx, &ecx, &edx) != 0) {
    for_2m = (eax >> 16) & 0xfff;
    for_4k = (ebx >> 16) & 0xfff;
  }
#endif
  return {{"4K", for_4k}, {"2M", for_2m}};
}

double seconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Processor time of all programs and the kernel since the start of the machine.
double busy_seconds() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0, nice = 0, kernel = 0;
  file >> name >> user >> nice >> kernel;
  return (user + nice + kernel) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

Neighbours::Neighbours()
    : wall_(seconds(CLOCK_MONOTONIC)), all_(busy_seconds()), own_(seconds(CLOCK_PROCESS_CPUTIME_ID)) {}

double Neighbours::busy_processors() const {
  const double all = busy_seconds() - all_;
  const double own = seconds(CLOCK_PROCESS_CPUTIME_ID) - own_;
  return std::max(0.0, (all - own) / std::max(0.01, seconds(CLOCK_MONOTONIC) - wall_));
}

std::uint64_t bytes_in(const char* file, const std::string& key) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(key + ":")) return std::stoull(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

std::int64_t number_in(const std::string& file) {
  std::int64_t number = 0;
  return std::ifstream(file) >> number ? number : -1;
}

nlohmann::json describe_machine() {
  utsname system{};
  uname(&system);
  const std::string model = cpu_fact("model name");
  const auto cache = number_in("/sys/devices/system/cpu/cpu0/cache/index3/size");  // "32768K": the number
  return {{"cpu", model.empty() ? system.machine : model},
          {"cpus", sysconf(_SC_NPROCESSORS_ONLN)},
          {"kernel", system.release},
          {"memory_bytes", bytes_in("/proc/meminfo", "MemTotal")},
          {"virtual_machine", virtual_machine()},
          {"last_cache_bytes", cache > 0 ? cache * 1024 : 0},
          {"tlb_entries", tlb_entries()}};
}

}  // namespace bench
