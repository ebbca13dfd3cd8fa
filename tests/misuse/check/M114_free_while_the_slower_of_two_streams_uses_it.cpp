// Two streams copy to a block, and it is freed when only one of them is done. The report names the other one.
#include "gate.h"

int main() {
  const Device device;
  void *block = nullptr, *host = nullptr;
  aclrtStream slow = nullptr, quick = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtCreateStream(&slow));
  must(aclrtCreateStream(&quick));
  Gate gate{slow};
  must(aclrtMemcpyAsync(block, kBytes / 2, host, kBytes / 2, ACL_MEMCPY_HOST_TO_DEVICE, slow));
  must(aclrtMemsetAsync(static_cast<char*>(block) + kBytes / 2, kBytes / 2, 1, kBytes / 2, quick));
  must(aclrtSynchronizeStream(quick));
#ifdef BUG
  must(aclrtFree(block));
  gate.open();
  (void)aclrtSynchronizeStream(slow);
  (void)aclGetRecentErrMsg();
#else
  gate.open();
  must(aclrtSynchronizeStream(slow));
  must(aclrtFree(block));
#endif
  must(aclrtDestroyStream(quick));
  (void)aclrtDestroyStream(slow);
  must(aclrtFreeHost(host));
}
