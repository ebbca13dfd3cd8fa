#include "platform/pinned.h"

#include <dlfcn.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

namespace belay::platform {
namespace {

// libnuma is loaded when a wish is there and there is a choice, so that nobody else needs it.
using ToNode = void (*)(void* start, std::size_t bytes, int node);
ToNode to_node() {
  static const ToNode function = [] {
    void* library = ::dlopen("libnuma.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == nullptr ? nullptr : reinterpret_cast<ToNode>(::dlsym(library, "numa_tonode_memory"));
  }();
  return function;
}

}  // namespace

std::int32_t memory_nodes() {
  std::int32_t nodes = 0;
  struct stat about {};
  while (::stat(("/sys/devices/system/node/node" + std::to_string(nodes)).c_str(), &about) == 0) ++nodes;
  return nodes == 0 ? 1 : nodes;
}

Pinned map_pinned(std::size_t bytes, bool must_lock, std::int32_t node) {
  void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return {PinOutcome::NoMemory};
  if (node != kAnyNode) put_on_node(at, bytes, node);
  if (::mlock(at, bytes) == 0) return {PinOutcome::Done, at, true};
  if (must_lock) {
    ::munmap(at, bytes);
    return {PinOutcome::LockRefused};
  }
  return {PinOutcome::Done, at, false};
}

void put_on_node(void* start, std::size_t bytes, std::int32_t node) {
  if (memory_nodes() > 1 && to_node() != nullptr) to_node()(start, bytes, node);
}

std::int32_t node_of_this_thread() {
  unsigned processor = 0;
  unsigned node = 0;
  return ::getcpu(&processor, &node) == 0 ? static_cast<std::int32_t>(node) : 0;
}

void unmap_pinned(void* start, std::size_t bytes) { ::munmap(start, bytes); }

bool close_pages(std::uintptr_t start, std::size_t bytes) {
  return ::mprotect(reinterpret_cast<void*>(start), bytes, PROT_NONE) == 0;
}

bool open_pages(std::uintptr_t start, std::size_t bytes) {
  return ::mprotect(reinterpret_cast<void*>(start), bytes, PROT_READ | PROT_WRITE) == 0;
}

std::size_t page_bytes() { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::size_t bytes_not_there(std::uintptr_t start, std::size_t bytes) {
  constexpr std::size_t kPage = 4096, kAtOnce = 4096;
  std::array<unsigned char, kAtOnce> there{};
  const std::uintptr_t first = start / kPage * kPage;
  const std::size_t pages = (start + bytes - first + kPage - 1) / kPage;
  std::size_t missing = 0;
  for (std::size_t done = 0; done < pages; done += kAtOnce) {
    const std::size_t some = std::min(kAtOnce, pages - done);
    // A part that is not mapped at all costs nothing: locking it fails.
    if (::mincore(reinterpret_cast<void*>(first + done * kPage), some * kPage, there.data()) != 0) continue;
    missing += static_cast<std::size_t>(std::count_if(there.begin(), there.begin() + some,
                                                      [](unsigned char page) { return (page & 1U) == 0; }));
  }
  return missing * kPage;
}

bool lock_pages(const void* start, std::size_t bytes) { return ::mlock(start, bytes) == 0; }
void unlock_pages(const void* start, std::size_t bytes) { ::munlock(start, bytes); }

bool read_if_mapped(std::uintptr_t from, void* to, std::size_t bytes) {
  const iovec here{to, bytes}, there{reinterpret_cast<void*>(from), bytes};
  return ::process_vm_readv(::getpid(), &here, 1, &there, 1, 0) == static_cast<ssize_t>(bytes);
}

std::optional<std::size_t> lock_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<std::size_t>(limit.rlim_cur);
}

}  // namespace belay::platform
