// A block of a device is still there when the device is reset.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifndef BUG
  must(aclrtFree(block));
#endif
}
