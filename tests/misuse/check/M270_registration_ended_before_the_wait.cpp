// Memory of the program is unregistered before it waited for the copy from it.
#include "program.h"

int main() {
  const Device device;
  alignas(4096) static char host[kBytes];
  void *block = nullptr, *mapped = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));
  must(aclrtCreateStream(&stream));
  must(aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef BUG
  must(aclrtHostUnregister(host));
  may_fail(aclrtSynchronizeStream(stream));
#else
  must(aclrtSynchronizeStream(stream));
  must(aclrtHostUnregister(host));
#endif
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
