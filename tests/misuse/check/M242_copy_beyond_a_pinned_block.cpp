// A copy writes beyond what was asked for of page-locked host memory.
#include "program.h"

int main() {
  const Device device;
  void *block = nullptr, *host = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kBytes, 0, kBytes));
  must(aclrtMallocHost(&host, 1000));
#ifdef BUG
  const std::size_t bytes = 1001;
#else
  const std::size_t bytes = 1000;
#endif
  must(aclrtMemcpy(host, bytes, block, bytes, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtFreeHost(host));
  must(aclrtFree(block));
}
