// What must not linger: after a failed call, after a fork, after the main thread's objects are gone.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "support/captured_process.h"
#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/scratch.h"

namespace {

using belay_test::Ending;
using belay_test::in_fresh_process;
using belay_test::run_captured;

TEST(NothingKept, R44_C21_CallsThatFailBeforeAndDuringExit) {
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

TEST(NothingKept, R69_TheParentsContextHandleMeansNothingInTheChild) {
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext of_parent = nullptr;
    ASSERT_EQ(aclrtCreateContext(&of_parent, 0), ACL_SUCCESS);
    in_fresh_process({}, [&] {
      EXPECT_EQ(aclrtSetCurrentContext(of_parent), ACL_ERROR_RT_PARAM_INVALID);
      aclrtContext own = nullptr;
      ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
      ASSERT_EQ(aclrtCreateContext(&own, 1), ACL_SUCCESS);
      EXPECT_NE(own, of_parent);
      EXPECT_EQ(aclrtSetCurrentContext(of_parent), ACL_ERROR_RT_PARAM_INVALID);
      EXPECT_EQ(aclrtDestroyContext(of_parent), ACL_ERROR_RT_CONTEXT_NULL);
    });
  });
}

TEST(NothingKept, R31_R30_AFailedInitLeavesNoDefaultDevice) {
  const belay_test::Scratch scratch;
  const std::string file = scratch.write("acl.json", R"({"defaultDevice": {"default_device": "3"}})");
  in_fresh_process({}, [&] {
    const auto refuses = [](const char*, std::size_t, void*) -> aclError { return 77; };
    ASSERT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, refuses, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(file.c_str()), 77);
    ASSERT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, refuses), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST(NothingKept, R27_BracketsInStringsAreNoNesting_AndDeepFilesAreRefusedWithoutACrash) {
  const belay_test::Scratch scratch;
  const std::string many(20, '[');
  const std::string harmless = scratch.write("harmless.json", R"({"text": ")" + many + R"("})");
  const std::size_t deep = 2'000'000;
  const std::string hostile =
      scratch.write("hostile.json", "[\"" + std::string(deep, ']') + "\"," + std::string(deep, '[') +
                                        std::string(deep, ']') + "]");
  in_fresh_process({}, [&] { EXPECT_EQ(aclInit(harmless.c_str()), ACL_SUCCESS); });
  in_fresh_process({}, [&] { EXPECT_EQ(aclInit(hostile.c_str()), ACL_ERROR_PARSE_FILE); });
}

TEST(NothingKept, M292_ABatchItemWithoutAnAddressIsRefused) {
  in_fresh_process({}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    char host[64] = {};
    for (const bool source : {true, false}) {
      void* to[2] = {block, source ? block : nullptr};
      void* from[2] = {host, source ? nullptr : static_cast<void*>(host)};
      std::size_t sizes[2] = {8, 8};
      std::size_t first = 0;
      std::size_t fail = 99;
      aclrtMemcpyBatchAttr attribute{};
      attribute.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
      attribute.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
      EXPECT_EQ(aclrtMemcpyBatch(to, sizes, from, sizes, 2, &attribute, &first, 1, &fail),
                ACL_ERROR_RT_PARAM_INVALID);
      EXPECT_EQ(fail, 1U);
    }
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  });
}

TEST(NothingKept, R117_R120_ContextsEndWhileOtherThreadsAskAboutThem) {
  in_fresh_process({}, [] {
    for (int round = 0; round < 200; ++round) {
      aclrtContext context = nullptr;
      ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
      std::thread other{[context] {
        if (aclrtSetCurrentContext(context) != ACL_SUCCESS) return;
        aclrtStream stream = nullptr;
        std::uint32_t cores = 0;
        while (aclrtCtxGetCurrentDefaultStream(&stream) == ACL_SUCCESS &&
               aclrtGetResInCurrentThread(ACL_RT_DEV_RES_CUBE_CORE, &cores) == ACL_SUCCESS) {
        }
        EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_NULL);
      }};
      EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
      other.join();
    }
  });
}

TEST(NothingKept, M11_AHeapThatWasOneLargeBlockIsCarvedByManyThreads) {
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

}  // namespace
