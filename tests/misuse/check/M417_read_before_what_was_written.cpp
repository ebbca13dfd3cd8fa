// The bytes from 100 on are written; with the mistake, those from 99 on are read.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kWritten = 100;
#ifdef BUG
  constexpr std::size_t kRead = kWritten - 1;
#else
  constexpr std::size_t kRead = kWritten;
#endif
  void* block = nullptr;
  static char host[kBytes];
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  char* const bytes = static_cast<char*>(block);
  must(aclrtMemset(bytes + kWritten, kBytes - kWritten, 7, kBytes - kWritten));
  must(aclrtMemcpy(host, kBytes, bytes + kRead, kBytes - kRead, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtFree(block));
}
