// A reservation of addresses is released twice.
#include "program.h"

int main() {
  const Device device;
  void* start = nullptr;
  must(aclrtReserveMemAddress(&start, kGranule, 0, nullptr, 0));
  must(aclrtReleaseMemAddress(start));
#ifdef BUG
  aclrtReleaseMemAddress(start);
#endif
}
