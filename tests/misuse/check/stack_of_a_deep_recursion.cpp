// Of a deep stack the innermost frames are told.
#include "program.h"

[[gnu::noinline]] int down(void* block, int depth) {
  if (depth == 0) {
    (void)aclrtFree(block);
    return 1;
  }
  const int below = down(block, depth - 1);
  asm volatile("" ::: "memory");  // no tail call
  return below + 1;
}

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(down(block, 100) == 101);
#ifdef BUG
  must(down(block, 50) == 51);
#endif
}
