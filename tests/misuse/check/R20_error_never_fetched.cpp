// A call fails, and the program asks nobody why. It goes on, so the run does not fail.

// ends: 0
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, 0, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS);
#ifndef BUG
  must(aclGetRecentErrMsg() != nullptr);
#endif
}
