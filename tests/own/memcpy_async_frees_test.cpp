// Memory that is freed while an asynchronous copy runs.
#include <atomic>

#include "support/settings.h"
#include "support/slices.h"
#include "support/streams.h"

namespace memcpy_async_frees_test {

using namespace belay_test;

// Frees one end of a large copy while somebody waits for it, over and over.
void free_while_copying(bool free_host) {
  constexpr std::size_t size = 32 * kMB;
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  for (int round = 0; round < slice(4, 64); ++round) {
    Stream stream;
    void *host = nullptr, *device = nullptr;
    ASSERT_EQ(::aclrtMallocHost(&host, size), ACL_SUCCESS);
    ASSERT_EQ(::aclrtMalloc(&device, size, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    void *const to = round % 2 == 0 ? device : host, *const from = round % 2 == 0 ? host : device;
    ASSERT_EQ(aclrtMemcpyAsync(to, size, from, size, ACL_MEMCPY_DEFAULT, stream.get()), ACL_SUCCESS);
    std::atomic<int> answer{-1};
    std::thread waiter{[&] {
      EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      answer = finish(stream);
    }};
    for (int i = 0; i < round; ++i) std::this_thread::yield();
    EXPECT_EQ(free_host ? aclrtFreeHost(host) : aclrtFree(device), ACL_SUCCESS);
    waiter.join();
    EXPECT_TRUE(answer == ACL_SUCCESS || answer == kRefused) << answer;
    EXPECT_EQ(free_host ? aclrtFree(device) : aclrtFreeHost(host), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST(MemcpyAsyncFrees, M270_PinnedMemoryFreedWhileTheCopyRuns_FailsOrIsDone_NoCrash) {
  in_fresh_process({}, [] { free_while_copying(true); });
  in_fresh_process({{"BELAY_LINK", "h2d:200MB/s,d2h:200MB/s"}}, [] { free_while_copying(true); });
}

TEST(MemcpyAsyncFrees, M270_DeviceMemoryFreedWhileTheCopyRuns_FailsOrIsDone_NoCrash) {
  in_fresh_process({}, [] { free_while_copying(false); });
  in_fresh_process({{"BELAY_LINK", "h2d:200MB/s,d2h:200MB/s"}}, [] { free_while_copying(false); });
}

}  // namespace memcpy_async_frees_test
