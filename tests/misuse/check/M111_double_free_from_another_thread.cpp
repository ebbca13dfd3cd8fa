// A worker frees the block that its owner frees, too.
#include <thread>

#include "program.h"

[[gnu::noinline]] void work(void* block) {
  must(aclrtMemset(block, kBytes, 1, kBytes));
  must(aclrtFree(block));
}

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  std::thread{[&] {
    must(aclrtSetDevice(0));
    work(block);
    must(aclrtResetDevice(0));
  }}.join();
#ifdef BUG
  aclrtFree(block);
#endif
}
