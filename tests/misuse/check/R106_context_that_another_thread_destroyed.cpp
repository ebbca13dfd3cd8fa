// A thread allocates in a context that another thread has destroyed meanwhile.
// flags: -pthread
#include <thread>

#include "program.h"

int main() {
  const Device device;
  aclrtContext context = nullptr;
  must(aclrtCreateContext(&context, 0));
  void* block = nullptr;
#ifdef BUG
  std::thread{[&] { must(aclrtDestroyContext(context)); }}.join();
  if (aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) std::_Exit(4);
#else
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtFree(block));
  std::thread{[&] { must(aclrtDestroyContext(context)); }}.join();
#endif
  must(aclrtSetDevice(0));
}
