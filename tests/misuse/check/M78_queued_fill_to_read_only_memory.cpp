// A queued fill changes a block that was allocated read-only.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
#ifdef BUG
  const auto policy = ACL_MEM_ACCESS_USER_SPACE_READONLY;
#else
  const auto policy = ACL_MEM_MALLOC_HUGE_FIRST;
#endif
  must(aclrtMalloc(&block, kBytes, policy));
  (void)aclrtMemsetAsync(block, kBytes, 7, kBytes, nullptr);
  (void)aclrtSynchronizeStream(nullptr);
  must(aclrtFree(block));
}
