#include "process_memory.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "machine.h"

namespace bench {
namespace {

std::int64_t bytes_of_memory_files() {
  std::int64_t bytes = 0;
  std::set<std::pair<dev_t, ino_t>> seen;  // two descriptors may be of one file
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    std::error_code gone;  // the descriptor that lists them is closed by then
    const auto target = std::filesystem::read_symlink(each.path(), gone).string();
    struct stat about {};
    if (!target.starts_with("/memfd:") || stat(each.path().c_str(), &about) != 0) continue;
    if (seen.insert({about.st_dev, about.st_ino}).second) bytes += about.st_blocks * 512;
  }
  return bytes;
}

std::int64_t status(const char* key) { return static_cast<std::int64_t>(bytes_in("/proc/self/status", key)); }

}  // namespace

ProcessMemory process_memory() {
  return {status("RssAnon") + status("HugetlbPages") + std::max(status("RssShmem"), bytes_of_memory_files()),
          status("VmPTE")};
}

}  // namespace bench
