// aclrtFreeWithDevSync frees what aclrtFree has freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtFree(block));
#ifdef BUG
  aclrtFreeWithDevSync(block);
#endif
}
