// options: --watch-host --schedule lazy
// ends: 134
// A program that reads too early and dies of what it read is told of that all the same.
#include "program.h"

int main() {
  const Device device;
  const Pinned host;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kBytes, 7, kBytes));
  must(aclrtCreateStream(&stream));
  must(aclrtMemcpyAsync(host.start, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
#ifndef BUG
  must(aclrtSynchronizeStream(stream));
#endif
  const volatile char* const bytes = static_cast<const char*>(host.start);
  if (bytes[100] != 7) std::abort();
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
