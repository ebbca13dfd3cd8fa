// One byte more is read than was written.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kWritten = 1000;
#ifdef BUG
  constexpr std::size_t kRead = kWritten + 1;
#else
  constexpr std::size_t kRead = kWritten;
#endif
  void* block = nullptr;
  static char host[kBytes];
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemcpy(block, kBytes, host, kWritten, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtMemcpy(host, kBytes, block, kRead, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtFree(block));
}
