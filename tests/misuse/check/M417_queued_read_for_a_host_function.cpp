// A queued copy brings bytes that nobody wrote to a function of the program that the same stream calls.
#include "program.h"

[[gnu::noinline]] void queue(void* host, const void* block, aclrtStream stream) {
  must(aclrtMemcpyAsync(host, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
}

int main() {
  const Device device;
  void *block = nullptr, *host = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMallocHost(&host, kBytes));
  must(aclrtCreateStream(&stream));
#ifdef BUG
  must(aclrtMemsetAsync(block, kBytes, 0, kBytes - 96, stream));
#else
  must(aclrtMemsetAsync(block, kBytes, 0, kBytes, stream));
#endif
  queue(host, block, stream);
  static int sum = 0;
  must(aclrtLaunchHostFunc(
      stream,
      [](void* bytes) {
        for (std::size_t i = 0; i < kBytes; ++i) sum += static_cast<const char*>(bytes)[i];
      },
      host));
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyStream(stream));
  must(aclrtFreeHost(host));
  must(aclrtFree(block));
}
