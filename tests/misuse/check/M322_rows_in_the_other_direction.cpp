// Rows that are copied to a device are said to come from there. The call goes by the addresses if the host
// memory is pinned (M-263), and the documents have no ACL_MEMCPY_DEFAULT for it.
#include "program.h"

int main() {
  const Device device;
  void* host = nullptr;
  void* block = nullptr;
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  constexpr aclrtMemcpyKind kKind = ACL_MEMCPY_DEVICE_TO_HOST;
#else
  constexpr aclrtMemcpyKind kKind = ACL_MEMCPY_HOST_TO_DEVICE;
#endif
  must(aclrtMemcpy2d(block, 64, host, 64, 64, 64, kKind));
  must(aclrtFree(block));
  must(aclrtFreeHost(host));
}
