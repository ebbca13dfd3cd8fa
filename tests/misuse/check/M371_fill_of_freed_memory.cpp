// A fill writes to a block that is freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemset(block, kBytes, 7, kBytes);
#else
  must(aclrtMemset(block, kBytes, 7, kBytes));
  must(aclrtFree(block));
#endif
}
