// also: --level cheap
// options: --fail-on hints
// An address is passed as the size of the destination.
#include "program.h"

int main() {
  const Device device;
  static char host[1000];
  void* block = nullptr;
  must(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  const std::size_t room = 1001;
#else
  const std::size_t room = 1000;
#endif
  must(aclrtMemcpy(block, room, host, 1000, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(block));
}
