// Host code writes to device memory that is freed, and dies of it.

// ends: 139
#include "program.h"

[[gnu::noinline]] void set(volatile char* bytes) { bytes[8] = 1; }

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtFree(block));
#ifdef BUG
  set(static_cast<char*>(block));
#else
  static char host[kBytes];
  set(host);
#endif
}
