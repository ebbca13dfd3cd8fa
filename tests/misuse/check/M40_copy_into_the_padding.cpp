// A copy goes into the padding of a block: two bytes more than were asked for.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes + 2];
  void* block = nullptr;
  must(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  const std::size_t bytes = 1002;
#else
  const std::size_t bytes = 1000;
#endif
  must(aclrtMemcpy(block, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(block));
}
