// Half of a block is written; all of it is copied to a second block and to a third, and read there.
#include "program.h"

int main() {
  const Device device;
  void *first = nullptr, *second = nullptr, *third = nullptr;
  static char host[kBytes];
  must(aclrtMalloc(&first, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMalloc(&second, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMalloc(&third, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  must(aclrtMemset(first, kBytes, 7, kBytes / 2));
#else
  must(aclrtMemset(first, kBytes, 7, kBytes));
#endif
  must(aclrtMemset(third, kBytes, 0, kBytes));  // of no use: the copy brings what is not written
  must(aclrtMemcpy(second, kBytes, first, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  must(aclrtMemcpy(third, kBytes, second, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  must(aclrtMemcpy(host, kBytes, third, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtFree(third));
  must(aclrtFree(second));
  must(aclrtFree(first));
}
