// A program ends with neither aclrtResetDevice nor aclFinalize, which is no mistake, and with a block, which
// is one.
#include "program.h"

int main() {
  must(aclInit(nullptr));
  must(aclrtSetDevice(0));
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifndef BUG
  must(aclrtFree(block));
#endif
}
