// Rows of 100 bytes are written 128 bytes apart; what is between them is read along.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kRow = 100, kPitch = 128, kRows = 4;
  static char host[kPitch * kRows];
  void* block = nullptr;
  must(aclrtMalloc(&block, kPitch * kRows, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemcpy2d(block, kPitch, host, kPitch, kRow, kRows, ACL_MEMCPY_HOST_TO_DEVICE));
#ifdef BUG
  must(aclrtMemcpy(host, sizeof host, block, kPitch * kRows, ACL_MEMCPY_DEVICE_TO_HOST));
#else
  must(aclrtMemcpy2d(host, kPitch, block, kPitch, kRow, kRows, ACL_MEMCPY_DEVICE_TO_HOST));
#endif
  must(aclrtFree(block));
}
