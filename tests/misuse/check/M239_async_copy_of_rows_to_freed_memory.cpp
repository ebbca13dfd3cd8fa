// A copy of rows to a block that is freed is queued.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  const Pinned host;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemcpy2dAsync(block, 128, host.start, 64, 64, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream);
#else
  must(aclrtMemcpy2dAsync(block, 128, host.start, 64, 64, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
#endif
  must(aclrtDestroyStream(stream));
}
