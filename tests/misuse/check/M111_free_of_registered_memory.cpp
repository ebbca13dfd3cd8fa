// Host memory that was only registered is freed with aclrtFree.
#include "program.h"

int main() {
  const Device device;
  void *host = std::aligned_alloc(kBytes, kBytes), *seen_by_device = nullptr;
  must(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
#ifdef BUG
  aclrtFree(host);
#endif
  must(aclrtHostUnregister(host));
  std::free(host);
}
