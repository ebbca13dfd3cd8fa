// Pinned host memory is freed while a queued copy still reads it: it stays there until the copy is waited
// for, and the program goes on.
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
  gate.open();
  may_fail(aclrtSynchronizeStream(stream));
#else
  gate.open();
  must(aclrtSynchronizeStream(stream));
  must(aclrtFreeHost(host));
#endif
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
