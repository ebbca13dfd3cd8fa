// Thirteen blocks are lost: ten were allocated at one place, three at another.
#include "program.h"

[[gnu::noinline]] void* weights() {
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return block;
}

[[gnu::noinline]] void* sums() {
  void* block = nullptr;
  must(aclrtMalloc(&block, 2 * kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return block;
}

[[gnu::noinline]] void drop([[maybe_unused]] void* block) {
#ifndef BUG
  must(aclrtFree(block));
#endif
}

int main() {
  const Device device;
  for (int i = 0; i < 10; ++i) drop(weights());
  for (int i = 0; i < 3; ++i) drop(sums());
}
