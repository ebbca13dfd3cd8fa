// A fill covers two mappings and the hole between them.
#include "virtual.h"

int main() {
  const Device device;
  char* start = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  must(aclrtReserveMemAddress(reinterpret_cast<void**>(&start), 3 * kGranule, 0, nullptr, 0));
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
  must(aclrtMapMem(start, kGranule, 0, handle, 0));
#ifdef BUG
  const std::size_t second = 2 * kGranule;
#else
  const std::size_t second = kGranule;
#endif
  must(aclrtMapMem(start + second, kGranule, 0, handle, 0));
  (void)aclrtMemset(start, second + kGranule, 1, second + kGranule);
  must(aclrtUnmapMem(start));
  must(aclrtUnmapMem(start + second));
  must(aclrtFreePhysical(handle));
  must(aclrtReleaseMemAddress(start));
}
