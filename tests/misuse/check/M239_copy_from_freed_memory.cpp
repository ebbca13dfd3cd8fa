// A copy reads from a block that is freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kBytes, 0, kBytes));
  static char host[kBytes];
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemcpy(host, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST);
#else
  must(aclrtMemcpy(host, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtFree(block));
#endif
}
