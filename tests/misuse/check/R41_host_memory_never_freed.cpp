// Pinned host memory is never freed.
#include "program.h"

int main() {
  const Device device;
  void* host = nullptr;
  must(aclrtMallocHost(&host, kBytes));
#ifndef BUG
  must(aclrtFreeHost(host));
#endif
}
