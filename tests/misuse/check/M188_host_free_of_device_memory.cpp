// A device block is given to the function for host memory.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  aclrtFreeHost(block);
#endif
  must(aclrtFree(block));
}
