// A copy writes to the middle of a block that is freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  static char host[kBytes];
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemcpy(static_cast<char*>(block) + 100, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE);
#else
  must(aclrtMemcpy(static_cast<char*>(block) + 100, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(block));
#endif
}
