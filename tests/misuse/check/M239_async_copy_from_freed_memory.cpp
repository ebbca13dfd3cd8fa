// A copy from a block that is freed is queued.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kBytes, 0, kBytes));
  const Pinned host;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemcpyAsync(host.start, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream);
#else
  must(aclrtMemcpyAsync(host.start, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
#endif
  must(aclrtDestroyStream(stream));
}
