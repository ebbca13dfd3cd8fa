// A copy descriptor names a block that is freed when the task runs. No call names it, so the task tells of
// it.
#include "program.h"

int main() {
  const Device device;
  void *from = nullptr, *to = nullptr, *descriptor = nullptr;
  aclrtStream stream = nullptr;
  std::size_t bytes = 0;
  must(aclrtMalloc(&from, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMalloc(&to, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &bytes));
  must(aclrtMalloc(&descriptor, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtSetMemcpyDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, from, to, kBytes, nullptr));
  must(aclrtCreateStream(&stream));
#ifdef BUG
  must(aclrtFree(to));
  must(aclrtMemcpyAsyncWithDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
  (void)aclrtSynchronizeStream(stream);
#else
  must(aclrtMemcpyAsyncWithDesc(descriptor, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(to));
#endif
  (void)aclrtDestroyStream(stream);
  must(aclrtFree(from));
  must(aclrtFree(descriptor));
}
