// The same mistake at the same place is told once, however often it is made.
#include "program.h"

int main() {
  const Device device;
  for (int i = 0; i < 900; ++i) {
    void* block = nullptr;
    must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    must(aclrtFree(block));
#ifdef BUG
    aclrtFree(block);
#endif
  }
}
