// The source of a queued copy is filled anew before the program waited for the copy.
#include <cstring>

#include "program.h"

int main() {
  const Device device;
  const Pinned host;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtCreateStream(&stream));
  std::memset(host.start, 1, kBytes);
  must(aclrtMemcpyAsync(block, kBytes, host.start, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifndef BUG
  must(aclrtSynchronizeStream(stream));
#endif
  static_cast<char*>(host.start)[kBytes - 1] = 2;
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
