// A registration of host memory is never ended.
#include "program.h"

int main() {
  const Device device;
  static char host[2 * kBytes];
  void *page = host + (kBytes - reinterpret_cast<std::uintptr_t>(host) % kBytes), *seen_by_device = nullptr;
  must(aclrtHostRegister(page, kBytes, ACL_HOST_REGISTER_MAPPED, &seen_by_device));
#ifndef BUG
  must(aclrtHostUnregister(page));
#endif
}
