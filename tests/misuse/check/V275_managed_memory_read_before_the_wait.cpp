// options: --watch-host
// environment: BELAY_SCHEDULE=lazy
// Host code reads managed memory that a queued copy writes to, before the program waited for the copy.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kMuch = 4 * kBytes;
  char* managed = nullptr;
  void* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMemAllocManaged(reinterpret_cast<void**>(&managed), kMuch, ACL_RT_MEM_ATTACH_GLOBAL));
  must(aclrtMalloc(&block, kMuch, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMemset(block, kMuch, 7, kMuch));
  must(aclrtCreateStream(&stream));
  managed[0] = 1;
  must(aclrtMemcpyAsync(managed, kMuch, block, kMuch, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
#ifndef BUG
  must(aclrtSynchronizeStream(stream));
#endif
  const volatile char* const bytes = managed;
  (void)bytes[kBytes];
  must(aclrtSynchronizeStream(stream));
  must(bytes[0] == 7 && bytes[kMuch - 1] == 7);
  must(aclrtMemcpyAsync(managed, kMuch, block, kMuch, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(managed));
  must(aclrtFree(block));
}
