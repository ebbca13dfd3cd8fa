// A fill of words gets memory of malloc.
#include <vector>

#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  std::vector<std::uint32_t> host(kBytes / 4);
  aclrtMemsetD32(host.data(), kBytes, 7, kBytes / 4);
#else
  must(aclrtMemsetD32(block, kBytes, 7, kBytes / 4));
#endif
  must(aclrtFree(block));
}
