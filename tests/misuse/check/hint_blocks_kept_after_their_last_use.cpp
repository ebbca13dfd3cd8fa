// ends: 0
// A large block is read and then kept for a thousand operations. The twin frees it before the last of them.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kLarge = std::size_t{16} << 20;
#ifdef BUG
  constexpr int kFreedAfter = 1000;
#else
  constexpr int kFreedAfter = 999;
#endif
  static char host[kBytes];
  void *large = nullptr, *small = nullptr;
  must(aclrtMalloc(&large, kLarge, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMalloc(&small, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(large, kLarge, 0, kLarge));
  must(aclrtMemcpy(host, kBytes, large, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 1; i <= 1000; ++i) {
    must(aclrtMemset(small, kBytes, 0, kBytes));
    if (i == kFreedAfter) must(aclrtFree(large));
  }
  must(aclrtFree(small));
}
