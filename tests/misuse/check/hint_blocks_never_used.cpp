// ends: 0
// A block is allocated and freed, and nothing else. The twin uses it, and has a smaller one that it does not
// use.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kLarge = std::size_t{16} << 20;
  void *block = nullptr, *smaller = nullptr;
  must(aclrtMalloc(&block, kLarge, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMalloc(&smaller, kLarge - 1, ACL_MEM_MALLOC_HUGE_FIRST));
#ifndef BUG
  must(aclrtMemset(static_cast<char*>(block) + kLarge - 1, 1, 0, 1));
#endif
  must(aclrtFree(smaller));
  must(aclrtFree(block));
}
