// The last of 40,000 copies that are queued at once reads a byte that nobody wrote.
#include <vector>

#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kItems = 40'000, kEach = 64;
  const Pinned host{kItems * kEach};
  void* block = nullptr;
  must(aclrtMalloc(&block, kItems * kEach, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  must(aclrtMemset(block, kItems * kEach, 7, kItems * kEach - 1));
#else
  must(aclrtMemset(block, kItems * kEach, 7, kItems * kEach));
#endif
  std::vector<void*> targets, sources;
  for (std::size_t i = 0; i < kItems; ++i) {
    targets.push_back(static_cast<char*>(host.start) + i * kEach);
    sources.push_back(static_cast<char*>(block) + i * kEach);
  }
  std::vector<std::size_t> sizes(kItems, kEach);
  aclrtMemcpyBatchAttr attribute{};
  attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  std::size_t first = 0, failed = 0;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtMemcpyBatchAsync(targets.data(), sizes.data(), sources.data(), sizes.data(), kItems, &attribute,
                             &first, 1, &failed, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(block));
}
