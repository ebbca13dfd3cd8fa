// also: --level cheap
// A queued copy reads one byte beyond what was asked for.
#include "program.h"

int main() {
  const Device device;
  void *block = nullptr, *host = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtMemset(block, 1000, 0, 1000));
#ifdef BUG
  const std::size_t bytes = 1001;
#else
  const std::size_t bytes = 1000;
#endif
  must(aclrtMemcpyAsync(host, kBytes, block, bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
  must(aclrtFreeHost(host));
  must(aclrtDestroyStream(stream));
}
