// A program asks how large the block is that it has freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  void* start = nullptr;
  std::size_t bytes = 0;
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemGetAddressRange(block, &start, &bytes);
#else
  must(aclrtMemGetAddressRange(block, &start, &bytes));
  must(aclrtFree(block));
#endif
}
