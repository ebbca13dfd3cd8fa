// A mapping ends while a queued copy still needs it.
#include "gate.h"
#include "virtual.h"

int main() {
  const Device device;
  void *start = nullptr, *host = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  aclrtStream stream = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  must(aclrtReserveMemAddress(&start, kGranule, 0, nullptr, 0));
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
  must(aclrtMapMem(start, kGranule, 0, handle, 0));
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtCreateStream(&stream));
  Gate gate{stream};
  must(aclrtMemcpyAsync(start, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef BUG
  must(aclrtUnmapMem(start));
  gate.open();
  (void)aclrtSynchronizeStream(stream);
  (void)aclGetRecentErrMsg();
#else
  gate.open();
  must(aclrtSynchronizeStream(stream));
  must(aclrtUnmapMem(start));
#endif
  (void)aclrtDestroyStream(stream);
  must(aclrtFreeHost(host));
  must(aclrtFreePhysical(handle));
  must(aclrtReleaseMemAddress(start));
}
