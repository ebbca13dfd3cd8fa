#include "machine.h"

#include <sys/utsname.h>
#include <unistd.h>

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

}  // namespace

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
