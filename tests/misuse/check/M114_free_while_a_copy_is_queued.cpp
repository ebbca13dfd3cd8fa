// A block is freed while a queued copy still needs it.
#include "gate.h"

[[gnu::noinline]] void queue(void* block, const void* host, aclrtStream stream) {
  must(aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
}

int main() {
  const Device device;
  void *block = nullptr, *host = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtCreateStream(&stream));
  Gate gate{stream};
  queue(block, host, stream);
#ifdef BUG
  must(aclrtFree(block));
  gate.open();
  (void)aclrtSynchronizeStream(stream);
  (void)aclGetRecentErrMsg();
#else
  gate.open();
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
#endif
  (void)aclrtDestroyStream(stream);
  must(aclrtFreeHost(host));
}
