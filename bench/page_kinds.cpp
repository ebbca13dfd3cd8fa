#include "page_kinds.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "machine.h"

#ifndef MADV_POPULATE_WRITE  // younger than the C library of Debian 12
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MAP_HUGE_SHIFT
#define MAP_HUGE_SHIFT 26
#endif

namespace bench {
namespace {

constexpr std::size_t kMega = std::size_t{1} << 20;
constexpr std::size_t kGiga = std::size_t{1} << 30;

PagedMemory none(std::string reason, std::string remedy) {
  PagedMemory memory;
  memory.reason = std::move(reason);
  memory.remedy = std::move(remedy);
  return memory;
}

// A mapping that starts at a multiple of 1 GB whatever its pages, so that the kinds differ in their page
// tables by page size alone and not by where they happen to lie.
void* map_aligned(std::size_t bytes, int flags) {
  const std::size_t room = bytes + kGiga;
  void* reserved = mmap(nullptr, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved == MAP_FAILED) return MAP_FAILED;
  const auto first = reinterpret_cast<std::uintptr_t>(reserved);
  const auto aligned = (first + kGiga - 1) / kGiga * kGiga;
  void* start = reinterpret_cast<void*>(aligned);
  munmap(reserved, room);  // it only found the place; nothing else maps in between
  return mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | flags,
              -1, 0);
}

// Supplies every page; as an answer and not as a signal where the kernel can (5.14).
bool touch_all(void* start, std::size_t bytes, std::size_t step) {
  if (madvise(start, bytes, MADV_POPULATE_WRITE) != 0 && errno != EINVAL) return false;
  auto* at = static_cast<volatile std::byte*>(start);
  for (std::size_t offset = 0; offset < bytes; offset += step) at[offset] = std::byte{1};
  return true;
}

// Empty if this much ordinary memory can be used without driving the machine into the OOM killer.
std::string shortage(std::size_t bytes) {
  const auto free = bytes_in("/proc/meminfo", "MemAvailable");
  if (free > bytes + bytes / 8) return "";
  return fmt::format("{} MB of memory are needed, {} MB are available", bytes / kMega, free / kMega);
}

PagedMemory map_small(std::size_t bytes) {
  if (auto why = shortage(bytes); !why.empty()) return none(why, "ask for less: --gigabytes");
  void* start = map_aligned(bytes, 0);
  if (start == MAP_FAILED) return none(std::strerror(errno), "ask for less: --gigabytes");
  madvise(start, bytes, MADV_NOHUGEPAGE);  // fails where the kernel has no transparent huge pages: as well
  if (!touch_all(start, bytes, page_bytes(PageKind::Small)) || smaps_facts(start).transparent_huge > 0) {
    munmap(start, bytes);
    return none("the kernel did not give pages of 4 KB", "a kernel that knows MADV_NOHUGEPAGE");
  }
  return {static_cast<std::byte*>(start), bytes, "ordinary pages (MADV_NOHUGEPAGE)", "", "", ""};
}

// Pages from the kernel's pool. They are set aside by mmap, all or none.
PagedMemory map_hugetlb(PageKind kind, std::size_t bytes) {
  const std::size_t page = page_bytes(kind);
  const std::size_t pages = (bytes + page - 1) / page;
  const std::string name = kind == PageKind::Huge1G ? "1 GB" : "2 MB";
  const std::string pool = fmt::format("/sys/kernel/mm/hugepages/hugepages-{}kB/", page / 1024);
  const auto all = number_in(pool + "nr_hugepages");
  const auto free = number_in(pool + "free_hugepages") - number_in(pool + "resv_hugepages");
  if (all < 0) return none("this processor or kernel has no pages of " + name, "another machine");
  const auto wanted = all + static_cast<std::int64_t>(pages) - free;
  const auto remedy = fmt::format("echo {} | sudo tee {}nr_hugepages", wanted, pool);

  const int log2_of_page = kind == PageKind::Huge1G ? 30 : 21;
  void* start = map_aligned(pages * page, MAP_HUGETLB | (log2_of_page << MAP_HUGE_SHIFT));
  if (start == MAP_FAILED) {
    if (free >= static_cast<std::int64_t>(pages)) return none(std::strerror(errno), remedy);
    return none(fmt::format("kernel pages of {1}: {0} needed, {2} free", pages, name, free), remedy);
  }
  if (!touch_all(start, pages * page, page)) {  // a cgroup may forbid what the pool would give
    munmap(start, pages * page);
    return none(
        "the kernel has pages of " + name + " but does not let this process use them",
        "raise hugetlb." + std::string(kind == PageKind::Huge1G ? "1GB" : "2MB") + ".max of its cgroup");
  }
  return {static_cast<std::byte*>(start), pages * page, "kernel huge pages (MAP_HUGETLB)", "", "", ""};
}

// The pools belong to the whole machine; who must not disturb others stays away from them.
PagedMemory pools_are_left_alone() {
  return none("the kernel's pools were to be left alone", "run it without --no-pool");
}

// Needs no pool and no privilege. The kernel may give part of it only, and then it does not count.
PagedMemory map_transparent(std::size_t bytes) {
  const std::size_t page = page_bytes(PageKind::Huge2M);
  bytes = (bytes + page - 1) / page * page;
  if (auto why = shortage(bytes); !why.empty()) return none(why, "ask for less: --gigabytes");
  void* start = map_aligned(bytes, 0);
  if (start == MAP_FAILED) return none(std::strerror(errno), "ask for less: --gigabytes");
  madvise(start, bytes, MADV_HUGEPAGE);
  bool touched = touch_all(start, bytes, page);
  if (touched && smaps_facts(start).transparent_huge < bytes) madvise(start, bytes, MADV_COLLAPSE);
  const auto huge = smaps_facts(start).transparent_huge;
  if (!touched || huge < bytes) {
    munmap(start, bytes);
    return none(fmt::format("transparent huge pages came for {} of {} MB only", huge / kMega, bytes / kMega),
                "echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled");
  }
  return {static_cast<std::byte*>(start), bytes, "transparent huge pages (MADV_HUGEPAGE)", "", "", ""};
}

PagedMemory map_2m(std::size_t bytes, bool may_use_pools) {
  PagedMemory pooled = may_use_pools ? map_hugetlb(PageKind::Huge2M, bytes) : pools_are_left_alone();
  if (pooled.available()) return pooled;
  PagedMemory transparent = map_transparent(bytes);
  if (transparent.available()) {
    transparent.note = fmt::format("not from the pool: {}; {}", pooled.reason, pooled.remedy);
    return transparent;
  }
  return none(pooled.reason + ", and " + transparent.reason, pooled.remedy);
}

}  // namespace

std::size_t page_bytes(PageKind kind) {
  switch (kind) {
    case PageKind::Small:
      return 4096;
    case PageKind::Huge2M:
      return 2 * kMega;
    case PageKind::Huge1G:
      break;
  }
  return kGiga;
}

PagedMemory map_pages(PageKind kind, std::size_t bytes, bool may_use_pools) {
  switch (kind) {
    case PageKind::Small:
      return map_small(bytes);
    case PageKind::Huge2M:
      return map_2m(bytes, may_use_pools);
    case PageKind::Huge1G:
      break;
  }
  return may_use_pools ? map_hugetlb(PageKind::Huge1G, bytes) : pools_are_left_alone();
}

SmapsFacts smaps_facts(const void* start) {
  const auto head = fmt::format("{:x}-", reinterpret_cast<std::uintptr_t>(start));
  std::ifstream file("/proc/self/smaps");
  SmapsFacts facts;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(head)) inside = true;
    if (!inside) continue;
    if (line.starts_with("VmFlags:")) break;  // the last line of a mapping
    const auto read = [&](const char* key, std::uint64_t& value) {
      const std::string front = std::string(key) + ":";
      if (line.starts_with(front)) value += std::stoull(line.substr(front.size())) * 1024;
    };
    read("KernelPageSize", facts.kernel_page);
    read("Rss", facts.resident);
    read("AnonHugePages", facts.transparent_huge);
    read("Private_Hugetlb", facts.hugetlb);
    read("Shared_Hugetlb", facts.hugetlb);
  }
  return facts;
}

}  // namespace bench
