// A block is freed twice, and between the two another one is allocated that could have got its address. The
// second free must not end the other block.
#include "program.h"

int main() {
  const Device device;
  void *first = nullptr, *second = nullptr;
  must(aclrtMalloc(&first, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtFree(first));
  must(aclrtMalloc(&second, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  aclrtFree(first);
#endif
  must(aclrtMemset(second, kBytes, 1, kBytes));
  must(aclrtFree(second));
}
