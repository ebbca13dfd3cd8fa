// A fill of 32-bit words writes to a block that is freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemsetD32(block, kBytes, 7, kBytes / 4);
#else
  must(aclrtMemsetD32(block, kBytes, 7, kBytes / 4));
  must(aclrtFree(block));
#endif
}
