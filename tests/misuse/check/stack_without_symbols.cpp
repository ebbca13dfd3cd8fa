// A program without symbols: its name and places in it, for whoever has the symbols.

// flags: -g0 -s
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtFree(block));
#ifdef BUG
  aclrtFree(block);
#endif
}
