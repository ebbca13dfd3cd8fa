// A mapping is never ended; its handle is freed, and its addresses cannot be released.
#include "virtual.h"

int main() {
  must(aclInit(nullptr));
  must(aclrtSetDevice(0));
  void* start = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  must(aclrtReserveMemAddress(&start, kGranule, 0, nullptr, 0));
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
  must(aclrtMapMem(start, kGranule, 0, handle, 0));
  must(aclrtFreePhysical(handle));
#ifndef BUG
  must(aclrtUnmapMem(start));
#endif
  must(aclrtResetDevice(0));
  must(aclrtReleaseMemAddress(start));
  must(aclFinalize());
}
