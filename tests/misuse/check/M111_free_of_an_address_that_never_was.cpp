// A device address where nothing was ever allocated.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  aclrtFree(static_cast<char*>(block) + (std::size_t{3} << 30));
#endif
  must(aclrtFree(block));
}
