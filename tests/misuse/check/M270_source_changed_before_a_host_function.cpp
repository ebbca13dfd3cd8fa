// The source of a queued copy is filled anew while host functions are queued: behind the copy in its stream,
// and in another stream. What the host function itself writes behind the copy is in good order.
#include <cstring>

#include "program.h"

namespace {
void do_nothing(void*) {}
void fill_anew(void* start) { std::memset(start, 3, kBytes); }
}  // namespace

int main() {
  const Device device;
  const Pinned host;
  void* block = nullptr;
  aclrtStream stream = nullptr, other = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtCreateStream(&stream));
  must(aclrtCreateStream(&other));
  std::memset(host.start, 1, kBytes);
  aclrtNotify go = nullptr;
  must(aclrtCreateNotify(&go, 0));
  must(aclrtWaitAndResetNotify(go, other, 0));
  must(aclrtLaunchHostFunc(other, do_nothing, nullptr));
  must(aclrtMemcpyAsync(block, kBytes, host.start, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef BUG
  static_cast<char*>(host.start)[7] = 2;
#endif
  must(aclrtLaunchHostFunc(stream, fill_anew, host.start));
  must(aclrtSynchronizeStream(stream));
  must(aclrtRecordNotify(go, stream));
  must(aclrtSynchronizeStream(other));
  must(aclrtDestroyNotify(go));
  must(aclrtDestroyStream(other));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
