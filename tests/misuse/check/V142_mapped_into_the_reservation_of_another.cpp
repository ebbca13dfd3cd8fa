// Memory of the host is mapped into a reservation that belongs to a device.
#include "virtual.h"

int main() {
  const Device device;
  char* start = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  aclrtDrvMemHandle other = nullptr;
  must(aclrtReserveMemAddress(reinterpret_cast<void**>(&start), 2 * kGranule, 0, nullptr, 0));
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
#ifdef BUG
  const aclrtPhysicalMemProp second = on_host();
#else
  const aclrtPhysicalMemProp second = prop;
#endif
  must(aclrtMallocPhysical(&other, kGranule, &second, 0));
  must(aclrtMapMem(start, kGranule, 0, handle, 0));
  if (aclrtMapMem(start + kGranule, kGranule, 0, other, 0) == ACL_SUCCESS)
    must(aclrtUnmapMem(start + kGranule));
  must(aclrtUnmapMem(start));
  must(aclrtFreePhysical(handle));
  must(aclrtFreePhysical(other));
  must(aclrtReleaseMemAddress(start));
}
