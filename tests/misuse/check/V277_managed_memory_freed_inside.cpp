// The middle of managed memory is freed.
#include "program.h"

int main() {
  const Device device;
  void* everywhere = nullptr;
  must(aclrtMemAllocManaged(&everywhere, kBytes, ACL_RT_MEM_ATTACH_GLOBAL));
#ifdef BUG
  aclrtFree(static_cast<char*>(everywhere) + 64);
#endif
  must(aclrtFree(everywhere));
}
