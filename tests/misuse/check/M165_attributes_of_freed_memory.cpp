// A program asks where memory is that is freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  aclrtPtrAttributes attributes{};
#ifdef BUG
  must(aclrtFree(block));
  aclrtPointerGetAttributes(block, &attributes);
#else
  must(aclrtPointerGetAttributes(block, &attributes));
  must(aclrtFree(block));
#endif
}
