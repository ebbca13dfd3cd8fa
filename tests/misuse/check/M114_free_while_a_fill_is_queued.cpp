// A block is freed while a queued fill still needs it.
#include "gate.h"

int main() {
  const Device device;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtCreateStream(&stream));
  Gate gate{stream};
  must(aclrtMemsetAsync(block, kBytes, 1, kBytes, stream));
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
}
