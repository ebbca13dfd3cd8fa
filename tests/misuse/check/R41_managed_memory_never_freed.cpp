// Managed memory is never freed.
#include "program.h"

int main() {
  const Device device;
  void* everywhere = nullptr;
  must(aclrtMemAllocManaged(&everywhere, kBytes, ACL_RT_MEM_ATTACH_GLOBAL));
#ifndef BUG
  must(aclrtFree(everywhere));
#endif
}
