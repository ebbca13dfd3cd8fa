// A queued copy changes a block that was allocated read-only.
#include "program.h"

int main() {
  const Device device;
  const Pinned host;
  void* block = nullptr;
#ifdef BUG
  const auto policy = ACL_MEM_ACCESS_USER_SPACE_READONLY;
#else
  const auto policy = ACL_MEM_MALLOC_HUGE_FIRST;
#endif
  must(aclrtMalloc(&block, kBytes, policy));
  (void)aclrtMemcpyAsync(block, kBytes, host.start, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, nullptr);
  (void)aclrtSynchronizeStream(nullptr);
  must(aclrtFree(block));
}
