// A batch reads two blocks, and one of them was not written.
#include "program.h"

int main() {
  const Device device;
  static char host[2][kBytes];
  void *first = nullptr, *second = nullptr;
  must(aclrtMalloc(&first, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMalloc(&second, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(first, kBytes, 7, kBytes));
#ifndef BUG
  must(aclrtMemset(second, kBytes, 7, kBytes));
#endif
  void* to[] = {host[0], host[1]};
  void* from[] = {first, second};
  std::size_t sizes[] = {kBytes, kBytes}, start = 0, failed = 0;
  aclrtMemcpyBatchAttr way{};
  way.dstLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  way.srcLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  must(aclrtMemcpyBatch(to, sizes, from, sizes, 2, &way, &start, 1, &failed));
  must(aclrtFree(second));
  must(aclrtFree(first));
}
