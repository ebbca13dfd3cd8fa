// The middle of pinned host memory is freed.
#include "program.h"

int main() {
  const Device device;
  void* host = nullptr;
  must(aclrtMallocHost(&host, kBytes));
#ifdef BUG
  aclrtFreeHost(static_cast<char*>(host) + 64);
#endif
  must(aclrtFreeHost(host));
}
