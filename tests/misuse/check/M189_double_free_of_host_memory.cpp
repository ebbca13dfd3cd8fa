// Pinned host memory is freed twice.
#include "program.h"

int main() {
  const Device device;
  void* host = nullptr;
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtFreeHost(host));
#ifdef BUG
  aclrtFreeHost(host);
#endif
}
