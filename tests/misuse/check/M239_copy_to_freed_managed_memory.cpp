// Managed memory is used after it was freed.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes];
  void* everywhere = nullptr;
  must(aclrtMemAllocManaged(&everywhere, kBytes, ACL_RT_MEM_ATTACH_GLOBAL));
  must(aclrtMemcpy(everywhere, kBytes, host, kBytes, ACL_MEMCPY_DEFAULT));
  must(aclrtFree(everywhere));
#ifdef BUG
  aclrtMemcpy(everywhere, kBytes, host, kBytes, ACL_MEMCPY_DEFAULT);
#endif
}
