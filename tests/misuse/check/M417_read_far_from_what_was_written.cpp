// One piece of a pool is written, and another one is read.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kPieces = 100;
  void* pool = nullptr;
  static char host[kBytes];
  must(aclrtMalloc(&pool, kPieces * kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  auto* const last = static_cast<char*>(pool) + (kPieces - 1) * kBytes;
  must(aclrtMemcpy(last, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
#ifdef BUG
  must(aclrtMemcpy(host, kBytes, pool, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
#else
  must(aclrtMemcpy(host, kBytes, last, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
#endif
  must(aclrtFree(pool));
}
