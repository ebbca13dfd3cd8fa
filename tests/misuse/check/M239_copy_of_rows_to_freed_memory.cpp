// A copy of rows writes to a block that is freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  static char host[kBytes];
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemcpy2d(block, 128, host, 64, 64, 8, ACL_MEMCPY_HOST_TO_DEVICE);
#else
  must(aclrtMemcpy2d(block, 128, host, 64, 64, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(block));
#endif
}
