// A handle of physical memory is freed twice.
#include "virtual.h"

int main() {
  const Device device;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
  must(aclrtFreePhysical(handle));
#ifdef BUG
  aclrtFreePhysical(handle);
#endif
}
