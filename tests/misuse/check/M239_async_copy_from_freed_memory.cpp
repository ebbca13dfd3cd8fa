// A copy from a block that is freed is queued.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  static char host[kBytes];
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemcpyAsync(host, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream);
#else
  must(aclrtMemcpyAsync(host, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
#endif
  must(aclrtDestroyStream(stream));
}
