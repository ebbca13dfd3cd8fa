// A host function fills the source of the copy behind it, which is in good order. Then the program fills it
// anew before it waited.
#include <cstring>

#include "program.h"

namespace {
void fill(void* start) { std::memset(start, 3, kBytes); }
}  // namespace

int main() {
  const Device device;
  const Pinned host;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtCreateStream(&stream));
  must(aclrtLaunchHostFunc(stream, fill, host.start));
  aclrtEvent filled = nullptr;
  must(aclrtCreateEventWithFlag(&filled, ACL_EVENT_SYNC));
  must(aclrtRecordEvent(filled, stream));
  must(aclrtMemcpyAsync(block, kBytes, host.start, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  must(aclrtSynchronizeEvent(filled));
#ifdef BUG
  static_cast<char*>(host.start)[100] = 2;
#endif
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyEvent(filled));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
