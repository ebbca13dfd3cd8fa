// A queued copy that should go to a device gets a host address as destination.

// options: --only direction
#include "program.h"

int main() {
  const Device device;
  static char source[kBytes];
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  static char target[kBytes];
  void* to = target;
#else
  void* to = block;
#endif
  must(aclrtMemcpyAsync(to, kBytes, source, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
  must(aclrtDestroyStream(stream));
}
