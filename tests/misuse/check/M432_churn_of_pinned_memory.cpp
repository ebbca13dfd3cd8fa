// ends: 0
// Pinned host memory is allocated for each of many copies; the twin does it once.
#include "program.h"

int main() {
  const Device device;
  void *block = nullptr, *host = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  for (int i = 0; i < 1000; ++i) {
    if (host == nullptr) must(aclrtMallocHost(&host, kBytes));
    must(aclrtMemcpy(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
#ifdef BUG
    must(aclrtFreeHost(host));
    host = nullptr;
#endif
  }
  if (host != nullptr) must(aclrtFreeHost(host));
  must(aclrtFree(block));
}
