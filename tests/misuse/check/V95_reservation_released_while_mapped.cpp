// also: --level cheap
// A reservation is released before its mapping is ended.
#include "virtual.h"

int main() {
  const Device device;
  char* start = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  must(aclrtReserveMemAddress(reinterpret_cast<void**>(&start), kGranule, 0, nullptr, 0));
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
  must(aclrtMapMem(start, kGranule, 0, handle, 0));
#ifdef BUG
  aclrtReleaseMemAddress(start);
#endif
  must(aclrtUnmapMem(start));
  must(aclrtFreePhysical(handle));
  must(aclrtReleaseMemAddress(start));
}
