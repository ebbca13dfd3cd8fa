// Reuse of addresses is delayed, not given up: a program may allocate and free for ever. Pages are free at
// once, so a device that is nearly full can be filled again.

// options: --hbm 64M --only lifetime
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  for (int i = 0; i < 100; ++i) {
    must(aclrtMalloc(&block, std::size_t{40} << 20, ACL_MEM_MALLOC_HUGE_FIRST));
    must(aclrtFree(block));
  }
#ifdef BUG
  aclrtMemset(block, kBytes, 1, kBytes);
#endif
}
