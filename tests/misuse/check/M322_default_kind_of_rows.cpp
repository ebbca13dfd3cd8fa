// options: --fail-on hints
// A copy of rows that is done at once has no ACL_MEMCPY_DEFAULT in the documents.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes];
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  const aclrtMemcpyKind kind = ACL_MEMCPY_DEFAULT;
#else
  const aclrtMemcpyKind kind = ACL_MEMCPY_HOST_TO_DEVICE;
#endif
  must(aclrtMemcpy2d(block, 64, host, 64, 64, 64, kind));
  must(aclrtFree(block));
}
