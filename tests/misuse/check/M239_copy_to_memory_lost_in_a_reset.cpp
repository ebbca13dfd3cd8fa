// A block is used after the reset that ended it. That the reset found it is a second mistake, so the block is
// freed by the program in the twin only.
#include "program.h"

int main() {
  static char host[kBytes];
  must(aclInit(nullptr));
  must(aclrtSetDevice(0));
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  must(aclrtResetDevice(0));
  must(aclrtSetDevice(0));
  aclrtMemcpy(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
#else
  must(aclrtMemcpy(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(block));
#endif
  must(aclrtResetDevice(0));
  must(aclFinalize());
}
