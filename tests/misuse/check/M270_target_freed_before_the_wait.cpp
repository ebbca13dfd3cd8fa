// Pinned host memory is freed before the program waited for rows that are copied to it.
#include "program.h"

int main() {
  const Device device;
  void *block = nullptr, *host = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kBytes, 1, kBytes));
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtCreateStream(&stream));
  must(aclrtMemcpy2dAsync(host, 64, block, 128, 64, 16, ACL_MEMCPY_DEVICE_TO_HOST, stream));
#ifdef BUG
  must(aclrtFreeHost(host));
  may_fail(aclrtSynchronizeStream(stream));
#else
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE)
    must(aclrtStreamQuery(stream, &status));  // that is a wait, too
  must(aclrtFreeHost(host));
#endif
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
