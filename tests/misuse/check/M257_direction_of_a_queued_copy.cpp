// A queued copy to a device from pageable memory says that it goes to the host: it is refused.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes];
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream);
#else
  must(aclrtMemcpy(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
#endif
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
  must(aclrtDestroyStream(stream));
}
