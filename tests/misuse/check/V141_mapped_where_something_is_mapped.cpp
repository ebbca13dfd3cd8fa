// Memory is mapped where other memory is mapped already.
#include "virtual.h"

int main() {
  const Device device;
  char* start = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  aclrtDrvMemHandle other = nullptr;
  must(aclrtReserveMemAddress(reinterpret_cast<void**>(&start), 2 * kGranule, 0, nullptr, 0));
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
  must(aclrtMallocPhysical(&other, kGranule, &prop, 0));
  must(aclrtMapMem(start, kGranule, 0, handle, 0));
#ifdef BUG
  aclrtMapMem(start, kGranule, 0, other, 0);
#else
  must(aclrtMapMem(start + kGranule, kGranule, 0, other, 0));
  must(aclrtUnmapMem(start + kGranule));
#endif
  must(aclrtUnmapMem(start));
  must(aclrtFreePhysical(handle));
  must(aclrtFreePhysical(other));
  must(aclrtReleaseMemAddress(start));
}
