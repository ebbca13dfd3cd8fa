// A copy writes to a block that is freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  static char host[kBytes];
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemcpy(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
#else
  must(aclrtMemcpy(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(block));
#endif
}
