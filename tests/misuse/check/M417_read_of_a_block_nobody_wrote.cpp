// A block is read right after it was allocated.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  static char host[kBytes];
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifndef BUG
  must(aclrtMemset(block, kBytes, 0, kBytes));
#endif
  must(aclrtMemcpy(host, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtFree(block));
}
