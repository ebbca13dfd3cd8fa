// Ending the runtime with something left, late, and while threads are at work.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "support/device_fixture.h"
#include "support/settings.h"
#include "support/this_program.h"
#include "support/waiting.h"

namespace finalize_end_test {

using belay_test::Ending;
using belay_test::eventually;
using belay_test::in_fresh_process;
using belay_test::run_captured;
using belay_test::run_this_test_as;
using belay_test::scenario;
using belay_test::Settings;

const Settings kQuiet = {{"BELAY_LEAKS", "off"}};

TEST(FinalizeEnd, R41_WhatIsLeftStaysUsable) {
  in_fresh_process(kQuiet, [] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    aclrtContext context = nullptr, current = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
    void *block = nullptr, *pinned = nullptr;
    ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&pinned, 4096), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(block, 4096, 7, 4096), ACL_SUCCESS);
    const std::size_t free_before = belay_test::free_bytes();

    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);

    EXPECT_EQ(belay_test::free_bytes(), free_before) << "nothing was freed";
    EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
    EXPECT_EQ(current, context);
    std::int32_t active = 0;
    EXPECT_EQ(aclrtGetPrimaryCtxState(1, nullptr, &active), ACL_SUCCESS);
    EXPECT_EQ(active, 1) << "the device is still set";
    EXPECT_EQ(aclrtMemcpy(pinned, 4096, block, 4096, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
    EXPECT_EQ(static_cast<char*>(pinned)[4095], 7);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  });
}

TEST(FinalizeEnd, R42_NothingIsWaitedFor) {
  in_fresh_process({{"ASCEND_LOG_DEVICE_FLUSH_TIMEOUT", "180000"}}, [] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60))
        << "nothing near the 180 s of the variable";
  });
}

// An object of the program that is destroyed when the process ends.
struct AtTheEnd {
  void (*report_at_exit)() = nullptr;
  ~AtTheEnd() {
    if (report_at_exit != nullptr) report_at_exit();
  }
};
AtTheEnd at_the_end;

void say(const char* call, aclError answer) { std::fprintf(stdout, "<%s %d>", call, answer); }

TEST(FinalizeEnd, R44_FromAStaticDestructor) {
  const std::string role = scenario();
  if (role.empty()) {
    const Ending finalize = run_this_test_as("finalize");
    EXPECT_TRUE(finalize.clean()) << finalize;
    EXPECT_NE(finalize.out.find("<aclFinalize 0>"), std::string::npos) << finalize;
    const Ending reference = run_this_test_as("reference");
    EXPECT_TRUE(reference.clean()) << reference;
    EXPECT_NE(reference.out.find("<aclFinalizeReference 0>"), std::string::npos) << reference;
    const Ending many = run_this_test_as("everything", kQuiet);
    EXPECT_TRUE(many.clean()) << many;
    EXPECT_NE(many.out.find("<end 0>"), std::string::npos) << many;
    return;
  }
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  if (role == "finalize") at_the_end.report_at_exit = [] { say("aclFinalize", aclFinalize()); };
  if (role == "reference") {
    at_the_end.report_at_exit = [] { say("aclFinalizeReference", aclFinalizeReference(nullptr)); };
  }
  if (role == "everything") {
    static void* block = nullptr;
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
    at_the_end.report_at_exit = [] {
      aclrtFree(block);
      aclrtResetDevice(0);
      aclrtSetDevice(99);
      aclGetRecentErrMsg();
      aclFinalize();
      aclFinalize();
      say("end", 0);
    };
  }
}

TEST(FinalizeEnd, R45_R67_EndingWhileThreadsAreAtWork) {
  for (int round = 0; round < 5; ++round) {
    const Ending ending = run_captured(kQuiet, [] {
      static std::array<std::atomic<int>, 4> rounds{};
      for (std::size_t i = 0; i < rounds.size(); ++i) {
        std::thread([i] {
          aclrtSetDevice(0);
          for (;; ++rounds[i]) {
            void* block = nullptr;
            aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY);
            aclrtMemset(block, 4096, 1, 4096);
            aclrtFree(block);
          }
        }).detach();
      }
      EXPECT_TRUE(eventually([] {
        return std::all_of(rounds.begin(), rounds.end(), [](const auto& done) { return done > 100; });
      }));
      if (!::testing::Test::HasFailure()) ::exit(0);
    });
    EXPECT_TRUE(ending.clean()) << ending;
  }
}

}  // namespace finalize_end_test
