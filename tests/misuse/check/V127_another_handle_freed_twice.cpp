// Of two handles of physical memory the second one is freed twice; the report is about that one.
#include "virtual.h"

int main() {
  const Device device;
  aclrtDrvMemHandle first = nullptr, second = nullptr;
  const aclrtPhysicalMemProp prop = on_device_0();
  must(aclrtMallocPhysical(&first, kGranule, &prop, 0));
  must(aclrtMallocPhysical(&second, kGranule, &prop, 0));
  must(aclrtFreePhysical(second));
  must(aclrtFreePhysical(first));
#ifdef BUG
  aclrtFreePhysical(second);
#endif
}
