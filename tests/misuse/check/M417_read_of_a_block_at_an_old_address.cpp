// options: --quarantine 0
// A block gets the address of one that was written and freed. What is left there is not its own.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes];
  void *first = nullptr, *second = nullptr;
  must(aclrtMalloc(&first, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(first, kBytes, 7, kBytes));
  must(aclrtFree(first));
  must(aclrtMalloc(&second, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(second == first);
#ifndef BUG
  must(aclrtMemset(second, kBytes, 7, kBytes));
#endif
  must(aclrtMemcpy(host, kBytes, second, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtFree(second));
}
