// Pinned host memory is freed while a queued copy still reads it.
#include "gate.h"

int main() {
  const Device device;
  void *block = nullptr, *host = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtCreateStream(&stream));
  Gate gate{stream};
  must(aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef BUG
  must(aclrtFreeHost(host));
  must(aclrtDestroyStreamForce(stream));  // the copy never runs: it would end the program
  gate.open();
#else
  gate.open();
  must(aclrtSynchronizeStream(stream));
  must(aclrtFreeHost(host));
  must(aclrtDestroyStream(stream));
#endif
  must(aclrtFree(block));
}
