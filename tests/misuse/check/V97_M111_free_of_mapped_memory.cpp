// A mapping is freed like a block.
#include "virtual.h"

int main() {
  const Device device;
  void* start = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  must(aclrtReserveMemAddress(&start, kGranule, 0, nullptr, 0));
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
  must(aclrtMapMem(start, kGranule, 0, handle, 0));
#ifdef BUG
  aclrtFree(start);
#endif
  must(aclrtUnmapMem(start));
  must(aclrtFreePhysical(handle));
  must(aclrtReleaseMemAddress(start));
}
