// also: --level cheap
// Pinned host memory is freed right after a copy from it is queued. Whether the copy has run by then is luck.
#include "program.h"

int main() {
  const Device device;
  void *block = nullptr, *host = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtCreateStream(&stream));
  must(aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifndef BUG
  must(aclrtSynchronizeStream(stream));
#endif
  must(aclrtFreeHost(host));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
