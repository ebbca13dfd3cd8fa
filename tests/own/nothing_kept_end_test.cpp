// Calls that fail at the end of a process, and one heap for many threads.
#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/device_fixture.h"
#include "support/settings.h"

namespace nothing_kept_end_test {

using belay_test::Ending;
using belay_test::in_fresh_process;
using belay_test::run_captured;

TEST(NothingKeptEnd, R44_C21_CallsThatFailBeforeAndDuringExit) {
  const Ending ending = run_captured({{"BELAY_LEAKS", "off"}}, [] {
    static aclrtContext context = nullptr;
    aclrtSetDevice(-1);  // a message is kept for this thread
    aclrtSetDevice(0);
    aclrtCreateContext(&context, 0);
    std::atexit([] {
      void* block = nullptr;
      bool as_ever = aclrtFree(&block) == ACL_ERROR_RT_PARAM_INVALID;
      as_ever = as_ever && aclGetRecentErrMsg() != nullptr;
      as_ever = as_ever && aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
      as_ever = as_ever && aclrtFree(block) == ACL_SUCCESS;
      as_ever = as_ever && aclrtDestroyContext(context) == ACL_SUCCESS;
      as_ever = as_ever && aclrtSetDevice(0) == ACL_SUCCESS;
      as_ever = as_ever && aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS;
      if (!as_ever) std::_Exit(9);
    });
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
}

TEST(NothingKeptEnd, M11_AHeapThatWasOneLargeBlockIsCarvedByManyThreads) {
  in_fresh_process({{"BELAY_DEVICES", "1"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (int round = 0; round < 20; ++round) {
      void* large = nullptr;
      ASSERT_EQ(aclrtMalloc(&large, std::size_t{700} << 20, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
      ASSERT_EQ(aclrtMemset(large, 1 << 20, 1, 1 << 20), ACL_SUCCESS);
      ASSERT_EQ(aclrtFree(large), ACL_SUCCESS);
      std::vector<std::thread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([] {
          EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
          std::vector<void*> blocks(64);
          for (void*& block : blocks) {
            EXPECT_EQ(aclrtMalloc(&block, 4000000, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
            unsigned char byte = 0;
            EXPECT_EQ(aclrtMemset(block, 1, 5, 1), ACL_SUCCESS);
            EXPECT_EQ(aclrtMemcpy(&byte, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
            EXPECT_EQ(byte, 5);
          }
          for (void* block : blocks) EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
  });
}

}  // namespace nothing_kept_end_test
