// also: --level cheap
// ends: 0
// Nine small blocks take a page of 2 MB each. Eight waste a little less than is worth a word. A block of the
// same line that fills its page is none of them.
#include "program.h"

int main() {
  const Device device;
#ifdef BUG
  constexpr int kBlocks = 10;
#else
  constexpr int kBlocks = 9;
#endif
  void* blocks[kBlocks];
  for (void*& each : blocks) {
    must(aclrtMalloc(&each, &each == blocks ? size_t{2'000'000} : kBytes, ACL_MEM_MALLOC_HUGE_ONLY));
    must(aclrtMemset(each, kBytes, 0, kBytes));
  }
  for (void* each : blocks) must(aclrtFree(each));
}
