// Managed memory is freed twice.
#include "program.h"

int main() {
  const Device device;
  void* everywhere = nullptr;
  must(aclrtMemAllocManaged(&everywhere, kBytes, ACL_RT_MEM_ATTACH_GLOBAL));
  must(aclrtFree(everywhere));
#ifdef BUG
  aclrtFree(everywhere);
#endif
}
