// A fill of 32-bit words in a block that is freed is queued.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemsetD32Async(block, kBytes, 7, kBytes / 4, stream);
#else
  must(aclrtMemsetD32Async(block, kBytes, 7, kBytes / 4, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
#endif
  must(aclrtDestroyStream(stream));
}
