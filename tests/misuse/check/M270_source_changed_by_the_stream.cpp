// What a stream itself changes behind its copy is in order; what the program changes is not.
#include <cstring>

#include "program.h"

int main() {
  const Device device;
  const Pinned host, later;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtCreateStream(&stream));
  std::memset(host.start, 1, kBytes);
  std::memset(later.start, 1, kBytes);
  must(aclrtMemcpyAsync(block, kBytes, host.start, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  must(aclrtMemcpyAsync(block, kBytes, later.start, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  must(aclrtMemsetAsync(block, kBytes, 2, kBytes, stream));
  must(aclrtMemcpyAsync(host.start, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
#ifdef BUG
  static_cast<char*>(later.start)[0] = 2;
#endif
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
