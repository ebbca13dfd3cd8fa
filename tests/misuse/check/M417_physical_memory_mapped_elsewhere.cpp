// Half of physical memory is written; then it is mapped at another address, where what is known of it is the
// same.
#include "virtual.h"

int main() {
  const Device device;
  static char host[kBytes];
  const aclrtPhysicalMemProp property = on_device_0();
  aclrtDrvMemHandle memory = nullptr;
  void *first = nullptr, *second = nullptr;
  must(aclrtMallocPhysical(&memory, kGranule, &property, 0));
  must(aclrtReserveMemAddress(&first, kGranule, 0, nullptr, 1));
  must(aclrtReserveMemAddress(&second, kGranule, 0, nullptr, 1));
  must(aclrtMapMem(first, kGranule, 0, memory, 0));
  must(aclrtMemset(first, kGranule, 7, kGranule / 2));
  must(aclrtUnmapMem(first));
  must(aclrtMapMem(second, kGranule, 0, memory, 0));
#ifdef BUG
  const std::size_t start = kGranule / 2 - kBytes + 1;
#else
  const std::size_t start = kGranule / 2 - kBytes;
#endif
  must(aclrtMemcpy(host, kBytes, static_cast<char*>(second) + start, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  must(aclrtUnmapMem(second));
  must(aclrtReleaseMemAddress(second));
  must(aclrtReleaseMemAddress(first));
  must(aclrtFreePhysical(memory));
}
