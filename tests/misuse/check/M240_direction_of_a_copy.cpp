// also: --level cheap
// A copy to a device says that it goes from a device to the host; the addresses decide, and it works.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes];
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  const aclrtMemcpyKind kind = ACL_MEMCPY_DEVICE_TO_HOST;
#else
  const aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE;
#endif
  must(aclrtMemcpy(block, kBytes, host, kBytes, kind));
  must(aclrtFree(block));
}
