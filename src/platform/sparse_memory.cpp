#include "platform/sparse_memory.h"

#include <sys/mman.h>

#include <cstdint>

#include "base/size.h"

namespace belay::platform {
namespace {
constexpr int kCollapse = 25;  // MADV_COLLAPSE, younger than our headers
}  // namespace

SparseMemory::SparseMemory(std::size_t bytes, Pages pages) {
  const std::size_t extra = bytes >= 2_MiB && pages == Pages::AsItIsLong ? 2_MiB : 0;
  void* got = ::mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return;
  auto* start = static_cast<std::byte*>(got);
  if (extra != 0) {
    const std::size_t before = 2_MiB - reinterpret_cast<std::uintptr_t>(got) % 2_MiB;
    ::munmap(start, before);
    const std::size_t end = before + *round_up(bytes, 4_KiB);
    if (end < bytes + extra) ::munmap(start + end, bytes + extra - end);
    start += before;
  }
  ::madvise(start, bytes, MADV_NOHUGEPAGE);  // which would be touched as a whole
  start_ = start;
  bytes_ = bytes;
}

void use_large_pages(void* start, std::size_t bytes) {
  ::madvise(start, bytes, MADV_HUGEPAGE);
  ::madvise(start, bytes, kCollapse);
}

SparseMemory::~SparseMemory() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

}  // namespace belay::platform
