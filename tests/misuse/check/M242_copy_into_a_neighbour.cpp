// A copy of twice the size runs into the block behind it, which is alive.
#include "program.h"

int main() {
  const Device device;
  static char host[4 * kBytes];
  char *first = nullptr, *second = nullptr;
  must(aclrtMalloc(reinterpret_cast<void**>(&first), kBytes - 64, ACL_MEM_MALLOC_NORMAL_ONLY));
  must(aclrtMalloc(reinterpret_cast<void**>(&second), kBytes - 64, ACL_MEM_MALLOC_NORMAL_ONLY));
  char* lower = first < second ? first : second;
  must(lower + kBytes == (first < second ? second : first));
#ifdef BUG
  const std::size_t bytes = kBytes + 100;
#else
  const std::size_t bytes = kBytes - 64;
#endif
  must(aclrtMemcpy(lower, bytes, host, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(first));
  must(aclrtFree(second));
}
