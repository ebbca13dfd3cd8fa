// Memory is prefetched into the cache after it was freed; the call is not refused.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifndef BUG
  must(aclrtCmoAsync(block, kBytes, ACL_RT_CMO_TYPE_PREFETCH, stream));
  must(aclrtSynchronizeStream(stream));
#endif
  must(aclrtFree(block));
#ifdef BUG
  must(aclrtCmoAsync(block, kBytes, ACL_RT_CMO_TYPE_PREFETCH, stream));
  must(aclrtSynchronizeStream(stream));
#endif
  must(aclrtDestroyStream(stream));
}
