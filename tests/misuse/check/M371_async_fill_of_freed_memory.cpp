// A fill of a block that is freed is queued.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemsetAsync(block, kBytes, 7, kBytes, stream);
#else
  must(aclrtMemsetAsync(block, kBytes, 7, kBytes, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
#endif
  must(aclrtDestroyStream(stream));
}
