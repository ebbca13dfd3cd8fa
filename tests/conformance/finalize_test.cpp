// Ending the runtime, and ending the process without it.
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/captured_process.h"
#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/scratch.h"

namespace finalize_test {

using belay_test::Ending;
using belay_test::in_fresh_process;
using belay_test::run_captured;
using belay_test::Scratch;

TEST(Finalize, R35_WhateverTheCountWas) {
  in_fresh_process([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    std::uint64_t count = 9;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << "the count is 0";
  });
}

TEST(Finalize, R36_OnlyOncePerInit) {
  in_fresh_process([] {
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
      EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
      EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    }
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  });
}

TEST(Finalize, R37_BeforeAnyInitOnce) {
  in_fresh_process([] {
    static int calls = 0;
    const aclFinalizeCallbackFunc count_it = [](void*) -> aclError {
      ++calls;
      return ACL_SUCCESS;
    };
    EXPECT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, count_it, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(calls, 2);
  });
}

TEST(Finalize, R38_ReferencesCountDown) {
  in_fresh_process([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    for (const std::uint64_t expected : {2U, 1U, 0U}) {
      std::uint64_t count = 99;
      EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
      EXPECT_EQ(count, expected);
    }
    std::uint64_t count = 99;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(count, 0U);
  });
}

TEST(Finalize, R38_WithoutAnyInit) {
  in_fresh_process([] {
    std::uint64_t count = 99;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(count, 0U);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  });
}

TEST(Finalize, R38_TheCountMayBeUnwanted) {
  in_fresh_process([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  });
}

TEST(Finalize, R38_OnlyTheLastReferenceEndsIt) {
  in_fresh_process([] {
    static int calls = 0;
    const aclFinalizeCallbackFunc count_it = [](void*) -> aclError {
      ++calls;
      return ACL_SUCCESS;
    };
    EXPECT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, count_it, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
    EXPECT_EQ(calls, 0);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_SUCCESS);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
  });
}

TEST(Finalize, R39_BothKindsMixed) {
  in_fresh_process([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    std::uint64_t count = 0;
    EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
    EXPECT_EQ(count, 0U);
  });
}

TEST(Finalize, R43_InitAgainAndAgain) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", R"({"err_msg_mode": "0"})");
  in_fresh_process([&] {
    for (int round = 0; round < 200; ++round) {
      EXPECT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
      EXPECT_EQ(round % 2 == 0 ? aclFinalize() : aclFinalizeReference(nullptr), ACL_SUCCESS);
    }
  });
}

TEST(Finalize, R38_R18_ThreadsTakeTheirReferencesBack) {
  in_fresh_process([] {
    constexpr int kThreads = 64;
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    for (int i = 1; i < kThreads; ++i) EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
    std::atomic<int> succeeded{0}, last{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        std::uint64_t count = 99;
        if (aclFinalizeReference(&count) == ACL_SUCCESS) ++succeeded;
        if (count == 0) ++last;
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(succeeded, kThreads);
    EXPECT_EQ(last, 1);
    EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
  });
}

TEST(Finalize, R45_EndingWithoutFinalizing) {
  const Ending ending = run_captured([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);  // else it is told as never given back
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    if (!::testing::Test::HasFailure()) ::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(ending.out, "");
  EXPECT_EQ(ending.err, "");
}

}  // namespace finalize_test
