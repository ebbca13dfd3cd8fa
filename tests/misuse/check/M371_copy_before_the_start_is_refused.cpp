// A copy begins a little before its block, where no block is.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes];
  void* blocks[2];
  for (void*& each : blocks) must(aclrtMalloc(&each, kBytes - 64, ACL_MEM_MALLOC_NORMAL_ONLY));
  const bool in_order = blocks[0] < blocks[1];
  void* const low = in_order ? blocks[0] : blocks[1];
  void* const high = in_order ? blocks[1] : blocks[0];
  must(static_cast<char*>(high) - static_cast<char*>(low) == kBytes);
  must(aclrtFree(low));
  void* elsewhere = nullptr;
  must(aclrtMalloc(&elsewhere, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY));
#ifdef BUG
  constexpr std::ptrdiff_t kOffset = -16;
#else
  constexpr std::ptrdiff_t kOffset = 0;
#endif
  aclrtMemcpy(static_cast<char*>(high) + kOffset, 100, host, 100, ACL_MEMCPY_HOST_TO_DEVICE);
  must(aclrtFree(elsewhere));
  must(aclrtFree(high));
}
