// The source of a queued copy is filled anew while host functions are queued: behind the copy in its stream,
// and in another stream. What the host function itself writes behind the copy is in good order.
#include <atomic>
#include <cstring>
#include <thread>

#include "program.h"

namespace {
std::atomic<bool> g_go{false};
void wait_for_main(void*) {
  while (!g_go) std::this_thread::yield();
}
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
  must(aclrtLaunchHostFunc(other, wait_for_main, nullptr));
  must(aclrtMemcpyAsync(block, kBytes, host.start, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
#ifdef BUG
  static_cast<char*>(host.start)[7] = 2;
#endif
  must(aclrtLaunchHostFunc(stream, fill_anew, host.start));
  must(aclrtSynchronizeStream(stream));
  g_go = true;
  must(aclrtSynchronizeStream(other));
  must(aclrtDestroyStream(other));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
