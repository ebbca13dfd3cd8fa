// A block is freed, its device reset and used again: its address still counts as freed.
#include "program.h"

int main() {
  static char host[kBytes];
  must(aclInit(nullptr));
  must(aclrtSetDevice(0));
  void *block = nullptr, *other = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtFree(block));
  must(aclrtResetDevice(0));
  must(aclrtSetDevice(0));
  must(aclrtMalloc(&other, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  aclrtMemcpy(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
#else
  must(aclrtMemcpy(other, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
#endif
  must(aclrtFree(other));
  must(aclrtResetDevice(0));
  must(aclFinalize());
}
