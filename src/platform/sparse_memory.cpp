#include "platform/sparse_memory.h"

#include <sys/mman.h>

namespace belay::platform {

SparseMemory::SparseMemory(std::size_t bytes) {
  void* got = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) return;
  ::madvise(got, bytes, MADV_NOHUGEPAGE);  // which would be touched as a whole
  start_ = static_cast<std::byte*>(got);
  bytes_ = bytes;
}

SparseMemory::~SparseMemory() {
  if (start_ != nullptr) ::munmap(start_, bytes_);
}

}  // namespace belay::platform
