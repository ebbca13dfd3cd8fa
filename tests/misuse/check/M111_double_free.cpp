// A block is freed by the one who made it, and again by the one who used it.
#include "program.h"

[[gnu::noinline]] void* make() {
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return block;
}

[[gnu::noinline]] void drop(void* block) { must(aclrtFree(block)); }

int main() {
  const Device device;
  void* block = make();
  drop(block);
#ifdef BUG
  aclrtFree(block);
#endif
}
