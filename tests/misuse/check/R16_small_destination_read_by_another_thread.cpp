// options: --watch-host --level cheap
// A thread reads what a queued copy brings into a small pinned block, while another one still waits for it.
#include <thread>

#include "gate.h"

int main() {
  const Device device;
  constexpr std::size_t kSmall = 10;
  const Pinned host{kSmall};
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kSmall, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kSmall, 7, kSmall));
  must(aclrtCreateStream(&stream));
  Gate gate{stream};
  must(aclrtMemcpyAsync(host.start, kSmall, block, kSmall, ACL_MEMCPY_DEVICE_TO_HOST, stream));
#ifndef BUG
  gate.open();
  must(aclrtSynchronizeStream(stream));
#endif
  const volatile char* const bytes = static_cast<const char*>(host.start);
  std::thread reader{[&] { (void)bytes[3]; }};
  reader.join();
#ifdef BUG
  gate.open();
  must(aclrtSynchronizeStream(stream));
#endif
  must(bytes[9] == 7);
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
