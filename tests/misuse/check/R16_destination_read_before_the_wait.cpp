// options: --watch-host
// environment: BELAY_SCHEDULE=lazy
// Host code reads what a queued copy brings before the program waited for the copy. What is in front of the
// destination and behind it may be read at any time, also on its pages.
#include "program.h"

int main() {
  const Device device;
  const Pinned host{3 * kBytes};
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, 2 * kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, 2 * kBytes, 7, 2 * kBytes));
  must(aclrtCreateStream(&stream));
  char* const start = static_cast<char*>(host.start);
  const volatile char* const bytes = start + 100;
  must(aclrtMemcpyAsync(start + 100, 2 * kBytes, block, 2 * kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  start[99] = 1;
  start[100 + 2 * kBytes] = 1;
#ifndef BUG
  must(aclrtSynchronizeStream(stream));
#endif
  (void)bytes[kBytes];
  (void)bytes[kBytes + 1];  // once is enough
  must(aclrtSynchronizeStream(stream));
  must(bytes[0] == 7 && bytes[kBytes] == 7 && bytes[2 * kBytes - 1] == 7);
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
