// The same amount of memory on pages of 4 KB, 2 MB or 1 GB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace bench {

enum class PageKind : std::uint8_t { Small, Huge2M, Huge1G };
inline constexpr PageKind kPageKinds[] = {PageKind::Small, PageKind::Huge2M, PageKind::Huge1G};

std::size_t page_bytes(PageKind kind);

// Memory whose every page was touched and is of the kind asked for; or none, and why. It stays for the life
// of the process.
struct PagedMemory {
  std::byte* start = nullptr;
  std::size_t bytes = 0;  // whole pages, so with 1 GB pages it may be more than what was asked for
  std::string how;        // which way the pages came
  std::string note;       // why not the better way, if there is one
  std::string reason;     // when there is no memory: why,
  std::string remedy;     // and what would provide it

  bool available() const { return start != nullptr; }
};
PagedMemory map_pages(PageKind kind, std::size_t bytes, bool may_use_pools);

// What /proc/self/smaps says about the mapping at `start`, in bytes.
struct SmapsFacts {
  std::uint64_t kernel_page = 0;
  std::uint64_t resident = 0;          // does not count hugetlb pages
  std::uint64_t transparent_huge = 0;  // AnonHugePages
  std::uint64_t hugetlb = 0;           // Private_Hugetlb and Shared_Hugetlb: the kernel may guess which
};
SmapsFacts smaps_facts(const void* start);

}  // namespace bench
