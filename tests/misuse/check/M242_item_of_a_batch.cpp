// The second of three copies of a batch is one byte too long.
#include "program.h"

int main() {
  const Device device;
  static char host[3][kBytes];
  void* blocks[3];
  for (void*& each : blocks) must(aclrtMalloc(&each, 1000, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  std::size_t sizes[] = {1000, 1001, 1000};
#else
  std::size_t sizes[] = {1000, 1000, 1000};
#endif
  void* sources[] = {host[0], host[1], host[2]};
  aclrtMemcpyBatchAttr attribute{};
  attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  std::size_t first = 0, failed = 0;
  must(aclrtMemcpyBatch(blocks, sizes, sources, sizes, 3, &attribute, &first, 1, &failed));
  for (void* each : blocks) must(aclrtFree(each));
}
