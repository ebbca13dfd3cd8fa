// also: --level cheap
// Queued copies from memory that is not pinned: each of them waits.

// ends: 0
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtCreateStream(&stream));
#ifdef BUG
  static char host[kBytes];
  void* const from = host;
#else
  const Pinned host;
  void* const from = host.start;
#endif
  for (int i = 0; i < 3; ++i)
    must(aclrtMemcpyAsync(block, kBytes, from, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
