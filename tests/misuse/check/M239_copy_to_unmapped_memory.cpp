// A mapping is used after its end.
#include "virtual.h"

int main() {
  const Device device;
  static char host[kBytes];
  void* start = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  must(aclrtReserveMemAddress(&start, kGranule, 0, nullptr, 0));
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
  must(aclrtMapMem(start, kGranule, 0, handle, 0));
  must(aclrtMemcpy(start, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtUnmapMem(start));
#ifdef BUG
  aclrtMemcpy(start, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE);
#endif
  must(aclrtFreePhysical(handle));
  must(aclrtReleaseMemAddress(start));
}
