// also: --level cheap
// ends: 0
// A small block is allocated and freed in each step of a loop. A few steps less are not worth a word.
#include "program.h"

int main() {
  const Device device;
#ifdef BUG
  constexpr int kSteps = 1000;
#else
  constexpr int kSteps = 999;
#endif
  for (int i = 0; i < kSteps; ++i) {
    void* block = nullptr;
    must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
    must(aclrtMemset(block, kBytes, 0, kBytes));
    must(aclrtFree(block));
  }
}
