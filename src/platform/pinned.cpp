#include "platform/pinned.h"

#include <sys/mman.h>
#include <sys/resource.h>

namespace belay::platform {

Pinned map_pinned(std::size_t bytes, bool must_lock) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return {PinOutcome::NoMemory};
  if (::mlock(at, bytes) == 0) return {PinOutcome::Done, at, true};
  if (must_lock) {
    ::munmap(at, bytes);
    return {PinOutcome::LockRefused};
  }
  return {PinOutcome::Done, at, false};
}

void unmap_pinned(void* start, std::size_t bytes) { ::munmap(start, bytes); }

bool lock_pages(const void* start, std::size_t bytes) { return ::mlock(start, bytes) == 0; }
void unlock_pages(const void* start, std::size_t bytes) { ::munlock(start, bytes); }

std::optional<std::size_t> lock_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace belay::platform
