#include "platform/kernel_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <string>

#include "platform/cgroup.h"
#include "platform/kernel_files.h"

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace belay::platform {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::size_t count_in(const std::string& path) { return whole_number(kernel_text(path)).value_or(0); }

std::string pool_directory(std::size_t page) {
  return "/sys/kernel/mm/hugepages/hugepages-" + std::to_string(page / 1024) + "kB/";
}

}  // namespace

bool has_page_pool(std::size_t page) {
  const std::string pool = pool_directory(page);
  return count_in(pool + "nr_hugepages") != 0 || count_in(pool + "nr_overcommit_hugepages") != 0;
}

bool back_from_pool(std::byte* at, std::size_t bytes, std::size_t page) {
  const int size = __builtin_ctzll(page) << MAP_HUGE_SHIFT;
  // Private: the pages and what is set aside for them go back to the pool with the mapping, and no child
  // shares them (the mapping is not inherited).
  void* got = ::mmap(at, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_HUGETLB | size, -1, 0);
  if (got == MAP_FAILED) return false;
  ::madvise(at, bytes, MADV_DONTFORK);
  ::madvise(at, bytes, MADV_DONTDUMP);
  // A control group may allow fewer pages than the pool has, and says so only at the touch.
  return ::madvise(at, bytes, MADV_POPULATE_WRITE) == 0;
}

Collapse collapse_pages(std::byte* at) {
  if (::madvise(at, kHugePage, MADV_COLLAPSE) == 0) return Collapse::Done;
  return errno == EINVAL ? Collapse::NotHere : Collapse::NotNow;
}

PagePool page_pool(std::size_t page) {
  const std::string pool = pool_directory(page);
  const std::size_t free = count_in(pool + "free_hugepages");
  return {count_in(pool + "nr_hugepages"), free - std::min(free, count_in(pool + "resv_hugepages"))};
}

MemoryLeft memory_left() {
  const std::string meminfo = kernel_text("/proc/meminfo");
  MemoryLeft left{from_meminfo(meminfo, "MemAvailable:").value_or(SIZE_MAX),
                  from_meminfo(meminfo, "MemTotal:").value_or(SIZE_MAX)};
  for (const CgroupMemory& group : cgroup_memory_limits()) {
    if (group.headroom() < left.available) left = {group.headroom(), group.limit};
  }
  return left;
}

}  // namespace belay::platform
