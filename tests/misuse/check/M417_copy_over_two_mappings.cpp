// A copy reads over the end of one mapping into the next, whose memory nobody wrote, and its bytes come two
// mappings further.
#include "virtual.h"

int main() {
  const Device device;
  static char host[2];
  const aclrtPhysicalMemProp property = on_device_0();
  constexpr int kPieces = 4;
  aclrtDrvMemHandle memory[kPieces] = {};
  void* range = nullptr;
  must(aclrtReserveMemAddress(&range, kPieces * kGranule, 0, nullptr, 1));
  char* const bytes = static_cast<char*>(range);
  for (int i = 0; i < kPieces; ++i) {
    must(aclrtMallocPhysical(&memory[i], kGranule, &property, 0));
    must(aclrtMapMem(bytes + i * kGranule, kGranule, 0, memory[i], 0));
  }
  must(aclrtMemset(bytes, kGranule, 7, kGranule));
#ifndef BUG
  must(aclrtMemset(bytes + kGranule, kGranule, 7, kGranule));
#endif
  must(aclrtMemcpy(bytes + 2 * kGranule, 2 * kGranule, bytes, 2 * kGranule, ACL_MEMCPY_DEVICE_TO_DEVICE));
  must(aclrtMemcpy(host, 2, bytes + 3 * kGranule - 1, 2, ACL_MEMCPY_DEVICE_TO_HOST));
  for (int i = 0; i < kPieces; ++i) {
    must(aclrtUnmapMem(bytes + i * kGranule));
    must(aclrtFreePhysical(memory[i]));
  }
  must(aclrtReleaseMemAddress(range));
}
