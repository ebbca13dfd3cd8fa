// What a thread has at hand belongs to the runtime that it came from, and not to the next one.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "belay/belay.h"
#include "support/app_usage.h"
#include "support/device_fixture.h"
#include "support/settings.h"
#include "support/slices.h"
#include "support/worker.h"

namespace fast_path_restart_test {

using namespace belay_test;

constexpr std::size_t kSizes[] = {64, 20 * kKB, 3 * kMB};

aclError pairs() {
  for (int i = 0; i < 50; ++i) {
    for (const std::size_t size : kSizes) {
      void* block = nullptr;
      if (const aclError answer = aclrtMalloc(&block, size, ACL_MEM_MALLOC_HUGE_FIRST)) return answer;
      if (const aclError answer = aclrtMemset(block, size, 1, std::min(size, slice(20 * kKB, size))))
        return answer;
      if (const aclError answer = aclrtFree(block)) return answer;
    }
  }
  return ACL_SUCCESS;
}

// More threads than have books of their own; some of them end in one runtime, some in the next.
TEST(FastPathRestart, ThreadsOfTheOldRuntime_FindTheNewOneEmpty_AndItsBooksExact) {
  in_fresh_process({{"BELAY_LEAKS", "off"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const std::size_t before = free_bytes();
    std::vector<std::unique_ptr<Worker>> workers(40);
    for (int round = 0; round < 10; ++round) {
      for (std::size_t i = 0; i < workers.size(); ++i) {
        if (workers[i] == nullptr || i % 5 == static_cast<std::size_t>(round) % 5)
          workers[i] = std::make_unique<Worker>();
      }
      std::vector<void*> left(workers.size());
      for (std::size_t i = 0; i < workers.size(); ++i) {
        ASSERT_EQ(workers[i]->ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
        ASSERT_EQ(workers[i]->ask(pairs), ACL_SUCCESS) << "round " << round << ", thread " << i;
        ASSERT_EQ(
            workers[i]->ask([&] { return aclrtMalloc(&left[i], kSizes[i % 3], ACL_MEM_MALLOC_HUGE_FIRST); }),
            ACL_SUCCESS);
      }
      ASSERT_LT(free_bytes(), before);
      ASSERT_EQ(belay_restart(), 0);
      for (std::size_t i = 0; i < workers.size(); i += 2) {
        ASSERT_EQ(workers[i]->ask(pairs), ACL_ERROR_RT_CONTEXT_NULL) << "round " << round << ", thread " << i;
        ASSERT_NE(workers[i]->ask([&] { return aclrtFree(left[i]); }), ACL_SUCCESS)
            << "it went with the old one";
      }
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      ASSERT_EQ(free_bytes(), before) << "round " << round;
      ASSERT_EQ(app_usage(), (Usage{0, 0})) << "round " << round;
      ASSERT_EQ(pairs(), ACL_SUCCESS);
      ASSERT_EQ(free_bytes(), before) << "round " << round;
    }
  });
}

// The new one may have another product, with other rules for the same request.
TEST(FastPathRestart, TheRulesOfTheNewRuntimeCount) {
  in_fresh_process({{"BELAY_LEAKS", "off"}}, [] {
    const auto cost = [] {
      const std::size_t before = free_bytes();
      void* block = nullptr;
      EXPECT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
      const std::size_t taken = before - free_bytes();
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
      return taken;
    };
    for (const char* product : {"A2", "950", "A3", "950"}) {
      ::setenv("BELAY_PRODUCT", product, 1);
      ASSERT_EQ(belay_restart(), 0);
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      for (int i = 0; i < 20; ++i)
        EXPECT_EQ(cost(), std::string{product} == "950" ? 4096U : 8192U) << product;
    }
  });
}

}  // namespace fast_path_restart_test
