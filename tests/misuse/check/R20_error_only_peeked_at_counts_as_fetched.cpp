// A call fails. Whoever peeks at the error knows of it.

// ends: 0
#include "program.h"

int main() {
  const Device device;
  must(aclrtMalloc(nullptr, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS);
#ifndef BUG
  (void)aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
#endif
  aclrtFloatOverflowMode mode{};
  (void)aclrtGetDeviceSatMode(&mode);
}
