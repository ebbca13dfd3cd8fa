// A block is freed and another one allocated, which could have got its address. A copy to the freed one must
// not change the other.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes]{1}, back[kBytes];
  void *first = nullptr, *second = nullptr;
  must(aclrtMalloc(&first, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemcpy(first, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(first));
  must(aclrtMalloc(&second, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(second, kBytes, 0, kBytes));
#ifdef BUG
  aclrtMemcpy(first, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
#endif
  must(aclrtMemcpy(back, kBytes, second, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  must(back[0] == 0);
  must(aclrtFree(second));
}
