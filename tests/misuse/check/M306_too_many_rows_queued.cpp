// A queued copy of rows has one row more than the source.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kWidth = 100, kPitch = 128, kHeight = 10;
  const Pinned host{kWidth * (kHeight + 1)};
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtMalloc(&block, kPitch * kHeight, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kPitch * kHeight, 0, kPitch * kHeight));
#ifdef BUG
  const std::size_t height = kHeight + 1;
#else
  const std::size_t height = kHeight;
#endif
  must(aclrtMemcpy2dAsync(host.start, kWidth, block, kPitch, kWidth, height, ACL_MEMCPY_DEVICE_TO_HOST,
                          stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
  must(aclrtDestroyStream(stream));
}
