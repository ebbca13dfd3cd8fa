// Access for reading alone is asked for.
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
  aclrtMemAccessDesc access{ACL_RT_MEM_ACCESS_FLAGS_READ, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {}};
#else
  aclrtMemAccessDesc access{ACL_RT_MEM_ACCESS_FLAGS_READWRITE, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {}};
#endif
  (void)aclrtMemSetAccess(start, kGranule, &access, 1);
  must(aclrtUnmapMem(start));
  must(aclrtFreePhysical(handle));
  must(aclrtReleaseMemAddress(start));
}
