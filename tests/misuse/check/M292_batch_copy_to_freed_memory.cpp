// One of a batch of copies writes to a block that is freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  static char host[kBytes];
  void *to[]{block}, *from[]{host};
  std::size_t bytes[]{kBytes}, first[]{0}, failed = 0;
  aclrtMemcpyBatchAttr way[1]{};
  way[0].dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  way[0].srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemcpyBatch(to, bytes, from, bytes, 1, way, first, 1, &failed);
#else
  must(aclrtMemcpyBatch(to, bytes, from, bytes, 1, way, first, 1, &failed));
  must(aclrtFree(block));
#endif
}
