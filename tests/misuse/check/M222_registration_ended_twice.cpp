// A registration of host memory is ended twice.
#include "program.h"

int main() {
  const Device device;
  void *host = std::aligned_alloc(kBytes, kBytes), *seen_by_device = nullptr;
  must(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
  must(aclrtHostUnregister(host));
#ifdef BUG
  aclrtHostUnregister(host);
#endif
  std::free(host);
}
