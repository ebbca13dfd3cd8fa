// The allocators that are measured side by side: belay's device memory, and four that everybody knows.
//
// Each operation of each of them is one call through a pointer and one check of the answer, so none has an
// advantage. Loops are templates over the allocator: nothing is chosen inside them.
#pragma once

#include <acl/acl.h>

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

// Says what failed and ends the program: a figure of calls that fail is worth nothing.
[[noreturn, gnu::cold]] void fail(const char* what, aclError code = ACL_SUCCESS);

inline void check(aclError code, const char* what) {
  if (code != ACL_SUCCESS) [[unlikely]]
    fail(what, code);
}

// aclrtMalloc, with the policy that programs mostly use, and aclrtFree.
struct DeviceAllocator {
  static constexpr const char* name = "belay";
  aclError (*malloc)(void**, std::size_t, aclrtMemMallocPolicy) = aclrtMalloc;
  aclError (*free)(void*) = aclrtFree;

  void* allocate(std::size_t bytes) const {
    void* block = nullptr;
    check(malloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    return block;
  }
  void release(void* block) const { check(free(block), "aclrtFree"); }
};

// Allocates as the C library does, from whatever library it comes.
struct HostAllocator {
  const char* name;
  void* (*malloc)(std::size_t);
  void (*free)(void*);

  void* allocate(std::size_t bytes) const {
    void* block = malloc(bytes);
    if (block == nullptr) [[unlikely]]
      fail(name);
    return block;
  }
  void release(void* block) const { free(block); }
};

using Allocator = std::variant<DeviceAllocator, HostAllocator>;

struct Peers {
  std::vector<Allocator> allocators;  // belay first
  std::vector<std::string> missing;   // what would be here if its package were installed, and why it is not
};

// Loads them once; they stay for the life of the process.
const Peers& peers();

// Calls work(allocator) for each of them, with its own type.
template <class Work>
void for_each_allocator(Work&& work) {
  for (const Allocator& each : peers().allocators) std::visit(work, each);
}

// Device 0 for the calling thread; does nothing the second time.
void use_device();

// jemalloc can be loaded late only if the loader was told at the start to keep room for its thread-local
// data. Starts the program again with that setting, once.
void make_room_for_peers(char** arguments);

}  // namespace bench
