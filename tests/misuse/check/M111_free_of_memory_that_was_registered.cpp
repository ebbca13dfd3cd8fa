// Heap memory was registered for a while. To aclrtFree it is foreign all the same, and was not freed before.
#include "program.h"

int main() {
  const Device device;
  void *host = std::aligned_alloc(kBytes, kBytes), *seen_by_device = nullptr;
  must(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  must(aclrtHostUnregister(host));
#ifdef BUG
  aclrtFree(host);
#endif
  std::free(host);
}
