// A copy writes beyond the end of a block, and beyond its last page.
#include "program.h"

int main() {
  const Device device;
  static char host[4 * kBytes];
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  aclrtMemcpy(block, 4 * kBytes, host, 4 * kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
#else
  must(aclrtMemcpy(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
#endif
  must(aclrtFree(block));
}
