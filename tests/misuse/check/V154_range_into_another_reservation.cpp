// A fill runs from the mappings of one reservation into those of the next.
#include "virtual.h"

int main() {
  const Device device;
  char* start = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  char* other = nullptr;
  must(aclrtReserveMemAddress(reinterpret_cast<void**>(&start), 2 * kGranule, 0, nullptr, 0));
  must(aclrtReserveMemAddress(reinterpret_cast<void**>(&other), 2 * kGranule, 0, nullptr, 0));
  if (other < start) {
    char* lower = other;
    other = start;
    start = lower;
  }
  must(start + 2 * kGranule == other);
  must(aclrtMallocPhysical(&handle, 2 * kGranule, &prop, 0));
  must(aclrtMapMem(start, 2 * kGranule, 0, handle, 0));
  must(aclrtMapMem(other, 2 * kGranule, 0, handle, 0));
#ifdef BUG
  const std::size_t bytes = 2 * kGranule + 1;
#else
  const std::size_t bytes = 2 * kGranule;
#endif
  must(aclrtMemset(start, bytes, 1, bytes));
  must(aclrtUnmapMem(start));
  must(aclrtUnmapMem(other));
  must(aclrtFreePhysical(handle));
  must(aclrtReleaseMemAddress(start));
  must(aclrtReleaseMemAddress(other));
}
