// Rows are copied with a pitch that the destination does not have: the last ones leave it.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kWidth = 100, kPitch = 128, kHeight = 10;
  static char host[kWidth * kHeight];
  void* block = nullptr;
  must(aclrtMalloc(&block, kPitch * kHeight, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  const std::size_t pitch = 144;
#else
  const std::size_t pitch = kPitch;
#endif
  must(aclrtMemcpy2d(block, pitch, host, kWidth, kWidth, kHeight, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(block));
}
