// The program waits for an event, which was recorded before the copy and not after it. In the twin it waits
// for another stream, which has waited for the event.
#include "program.h"

int main() {
  const Device device;
  void *block = nullptr, *host = nullptr;
  aclrtStream stream = nullptr, other = nullptr;
  aclrtEvent event = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtCreateStream(&stream));
  must(aclrtCreateStream(&other));
  must(aclrtCreateEvent(&event));
#ifdef BUG
  must(aclrtRecordEvent(event, stream));
  must(aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  must(aclrtSynchronizeEvent(event));
#else
  must(aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  must(aclrtRecordEvent(event, stream));
  must(aclrtStreamWaitEvent(other, event));
  must(aclrtSynchronizeStream(other));
#endif
  must(aclrtFreeHost(host));
  may_fail(aclrtSynchronizeDevice());
  must(aclrtDestroyEvent(event));
  must(aclrtDestroyStream(other));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
