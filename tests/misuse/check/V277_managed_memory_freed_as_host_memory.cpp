// Managed memory is given to the function for host memory.
#include "program.h"

int main() {
  const Device device;
  void* everywhere = nullptr;
  must(aclrtMemAllocManaged(&everywhere, kBytes, ACL_RT_MEM_ATTACH_GLOBAL));
#ifdef BUG
  aclrtFreeHost(everywhere);
#endif
  must(aclrtFree(everywhere));
}
