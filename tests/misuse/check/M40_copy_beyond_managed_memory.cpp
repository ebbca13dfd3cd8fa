// The last copy out of a piece of managed memory is one byte too long.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kAsked = 1000;
  static char host[kAsked + 1];
  void* managed = nullptr;
  must(aclrtMemAllocManaged(&managed, kAsked, ACL_RT_MEM_ATTACH_GLOBAL));
  must(aclrtMemset(managed, kAsked, 7, kAsked));
#ifdef BUG
  constexpr std::size_t kCopied = kAsked + 1;
#else
  constexpr std::size_t kCopied = kAsked;
#endif
  must(aclrtMemcpy(host, kCopied, managed, kCopied, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtFree(managed));
}
