// Physical memory of the host is never freed.
#include "virtual.h"

int main() {
  const Device device;
  const aclrtPhysicalMemProp prop = on_host();
  aclrtDrvMemHandle handle = nullptr;
  must(aclrtMallocPhysical(&handle, kGranule, &prop, 0));
#ifndef BUG
  must(aclrtFreePhysical(handle));
#endif
}
