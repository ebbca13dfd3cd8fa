// A queued copy reads a local variable of a function that returns before anybody waits.
#include <cstring>

#include "program.h"

[[gnu::noinline]] std::uintptr_t send(void* block, aclrtStream stream) {
  alignas(4096) char host[kBytes];
  void* mapped = nullptr;
  std::memset(host, 1, sizeof host);
  must(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &mapped));
  must(aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifndef BUG
  must(aclrtSynchronizeStream(stream));
#endif
  return reinterpret_cast<std::uintptr_t>(host);
}

int main() {
  const Device device;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtCreateStream(&stream));
  const std::uintptr_t host = send(block, stream);
  must(aclrtSynchronizeStream(stream));
  must(aclrtHostUnregister(reinterpret_cast<void*>(host)));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
