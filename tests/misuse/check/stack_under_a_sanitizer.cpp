// A program with AddressSanitizer in it.

// flags: -fsanitize=address
// environment: ASAN_OPTIONS=verify_asan_link_order=0
#include "program.h"

[[gnu::noinline]] void drop(void* block) { (void)aclrtFree(block); }

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  drop(block);
#ifdef BUG
  drop(block);
#endif
}
