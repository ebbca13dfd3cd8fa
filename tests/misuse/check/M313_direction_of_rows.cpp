// A copy of rows to a device says that it goes to the host: it is refused.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes];
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  aclrtMemcpy2d(block, 64, host, 64, 64, 64, ACL_MEMCPY_DEVICE_TO_HOST);
#else
  must(aclrtMemcpy2d(block, 64, host, 64, 64, 64, ACL_MEMCPY_HOST_TO_DEVICE));
#endif
  must(aclrtFree(block));
}
