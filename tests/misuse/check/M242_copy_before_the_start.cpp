// A copy starts 16 bytes before a block, in the padding of the one in front of it.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes];
  char *first = nullptr, *second = nullptr;
  must(aclrtMalloc(reinterpret_cast<void**>(&first), kBytes - 64, ACL_MEM_MALLOC_NORMAL_ONLY));
  must(aclrtMalloc(reinterpret_cast<void**>(&second), kBytes - 64, ACL_MEM_MALLOC_NORMAL_ONLY));
  char* upper = first < second ? second : first;
#ifdef BUG
  const std::ptrdiff_t offset = -16;
#else
  const std::ptrdiff_t offset = 0;
#endif
  must(aclrtMemcpy(upper + offset, 100, host, 100, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(first));
  must(aclrtFree(second));
}
