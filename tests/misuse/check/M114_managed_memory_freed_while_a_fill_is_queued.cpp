// Managed memory is freed while a queued fill still needs it.
#include "gate.h"

int main() {
  const Device device;
  void* everywhere = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMemAllocManaged(&everywhere, kBytes, ACL_RT_MEM_ATTACH_GLOBAL));
  must(aclrtCreateStream(&stream));
  Gate gate{stream};
  must(aclrtMemsetAsync(everywhere, kBytes, 1, kBytes, stream));
#ifdef BUG
  must(aclrtFree(everywhere));
  gate.open();
  (void)aclrtSynchronizeStream(stream);
  (void)aclGetRecentErrMsg();
#else
  gate.open();
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(everywhere));
#endif
  (void)aclrtDestroyStream(stream);
}
