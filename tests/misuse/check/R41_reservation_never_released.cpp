// A reservation of addresses is never released.
#include "program.h"

int main() {
  const Device device;
  void* start = nullptr;
  must(aclrtReserveMemAddress(&start, kGranule, 0, nullptr, 0));
#ifndef BUG
  must(aclrtReleaseMemAddress(start));
#endif
}
