// options: --watch-host
// environment: BELAY_SCHEDULE=lazy
// Host code writes to rows that a queued copy of rows brings, before the program waited for the copy. It may
// write between them.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kRows = 4, kPitch = 2 * kBytes;
  const Pinned host{kRows * kPitch};
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kRows * kPitch, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kRows * kPitch, 7, kRows * kPitch));
  must(aclrtCreateStream(&stream));
  must(aclrtMemcpy2dAsync(host.start, kPitch, block, kPitch, kBytes, kRows, ACL_MEMCPY_DEVICE_TO_HOST,
                          stream));
  char* const start = static_cast<char*>(host.start);
  start[kBytes] = 1;
#ifndef BUG
  must(aclrtSynchronizeStream(stream));
#endif
  start[3 * kPitch + 5] = 1;
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
