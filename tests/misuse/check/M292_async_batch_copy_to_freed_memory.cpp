// A batch of copies to a block that is freed is queued.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  void* host = nullptr;
  must(aclrtMallocHost(&host, kBytes));
  void *to[]{block}, *from[]{host};
  std::size_t bytes[]{kBytes}, first[]{0}, failed = 0;
  aclrtMemcpyBatchAttr way[1]{};
  way[0].dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  way[0].srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
#ifdef BUG
  must(aclrtFree(block));
  aclrtMemcpyBatchAsync(to, bytes, from, bytes, 1, way, first, 1, &failed, stream);
#else
  must(aclrtMemcpyBatchAsync(to, bytes, from, bytes, 1, way, first, 1, &failed, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
#endif
  must(aclrtDestroyStream(stream));
  must(aclrtFreeHost(host));
}
