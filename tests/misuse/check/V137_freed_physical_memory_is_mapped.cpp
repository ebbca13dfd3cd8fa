// A handle is mapped after it was freed.
#include "virtual.h"

int main() {
  const Device device;
  void* start = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  must(aclrtReserveMemAddress(&start, kGranule, 0, nullptr, 0));
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
#ifdef BUG
  must(aclrtFreePhysical(handle));
  aclrtMapMem(start, kGranule, 0, handle, 0);
#else
  must(aclrtMapMem(start, kGranule, 0, handle, 0));
  must(aclrtUnmapMem(start));
  must(aclrtFreePhysical(handle));
#endif
  must(aclrtReleaseMemAddress(start));
}
