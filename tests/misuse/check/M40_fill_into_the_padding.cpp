// A fill goes one byte beyond what was asked for.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  must(aclrtMemset(block, 1001, 0, 1001));
#else
  must(aclrtMemset(block, 1000, 0, 1000));
#endif
  must(aclrtFree(block));
}
