// Host code reads device memory, and dies of it.

// ends: 139
#include "program.h"

[[gnu::noinline]] char first_of(const volatile char* bytes) { return bytes[8]; }

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kBytes, 0, kBytes));
  static char host[kBytes];
  must(aclrtMemcpy(host, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
#ifdef BUG
  const char got = first_of(static_cast<char*>(block));
#else
  const char got = first_of(host);
#endif
  must(aclrtFree(block));
  return got == 1;
}
