// also: --level cheap
// A plan of segments leaves out the 32 bytes between them.
#include "belay/belay.h"
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  const belaySegment plan[] = {{0, 1000}, {1024, 1000}};
#else
  const belaySegment plan[] = {{0, 1000}, {1088, 1000}};
#endif
  (void)belay_check_segments(block, plan, 2);
  must(aclrtFree(block));
}
