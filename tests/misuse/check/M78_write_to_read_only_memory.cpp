// A fill writes to a block that was allocated read-only.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
#ifdef BUG
  const auto policy =
      static_cast<aclrtMemMallocPolicy>(ACL_MEM_MALLOC_HUGE_FIRST | ACL_MEM_ACCESS_USER_SPACE_READONLY);
#else
  const aclrtMemMallocPolicy policy = ACL_MEM_MALLOC_HUGE_FIRST;
#endif
  must(aclrtMalloc(&block, kBytes, policy));
  (void)aclrtMemset(block, kBytes, 1, kBytes);
  must(aclrtFree(block));
}
