// options: --only contents
// A block was written; the device is reset, and a new block has nothing of it.
#include "program.h"

int main() {
  must(aclInit(nullptr));
  static char host[kBytes];
  for (int round = 0; round < 2; ++round) {
    must(aclrtSetDevice(0));
    void* block = nullptr;
    must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
    if (round == 0)
#endif
      must(aclrtMemset(block, kBytes, 7, kBytes));
    must(aclrtMemcpy(host, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    must(aclrtResetDevice(0));
  }
  must(aclFinalize());
}
