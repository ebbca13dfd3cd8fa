// The last-error slot of a thread.
#include <array>
#include <cstdint>
#include <thread>

#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/slices.h"
#include "support/worker.h"

namespace last_error_test {

using belay_test::as_enum;
using belay_test::in_fresh_process;
using belay_test::on_new_thread;
using belay_test::Worker;

aclError peek() { return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL); }
aclError take() { return aclrtGetLastError(ACL_RT_THREAD_LEVEL); }

class LastError : public belay_test::OnDevice {};

TEST_F(LastError, R19_ANewThreadStartsWithZero) {
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  on_new_thread([] {
    EXPECT_EQ(peek(), ACL_SUCCESS);
    EXPECT_EQ(take(), ACL_SUCCESS);
  });
  EXPECT_EQ(take(), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(LastError, R19_RuntimeFailuresAreStored) {
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(take(), ACL_ERROR_RT_INVALID_DEVICEID);

  EXPECT_EQ(aclrtResetDevice(7), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(take(), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);

  int here = 0;
  EXPECT_EQ(aclrtSetCurrentContext(&here), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(take(), ACL_ERROR_RT_PARAM_INVALID);

  EXPECT_EQ(aclrtDestroyContext(&here), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(take(), ACL_ERROR_RT_CONTEXT_NULL);

  std::int64_t option = 0;
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_ENABLE_DEBUG_KERNEL, &option), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
  EXPECT_EQ(take(), ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);

  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, std::size_t{1} << 50, ACL_MEM_MALLOC_NORMAL_ONLY),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
  EXPECT_EQ(take(), ACL_ERROR_RT_MEMORY_ALLOCATION);

  EXPECT_EQ(aclrtFree(&here), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(take(), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(LastError, R19_SuccessesDoNotClearIt) {
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  std::int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(peek(), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(take(), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(LastError, R19_ThereIsOneSlotAndTheNewestFailureHasIt) {
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  int here = 0;
  EXPECT_EQ(aclrtFree(&here), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(take(), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(take(), ACL_SUCCESS);
}

TEST_F(LastError, R19_R18_EveryThreadHasItsOwn) {
  constexpr int kThreads = 16;
  std::array<aclError, kThreads> stored{};
  {
    std::array<std::thread, kThreads> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads[static_cast<std::size_t>(i)] = std::thread([i, &stored] {
        for (int round = 0; round < belay_test::slice(200, 10000); ++round) {
          if (i % 2 == 0) {
            aclrtSetDevice(-1 - i);
          } else {
            int here = 0;
            aclrtFree(&here);
          }
          if (round % 50 != 49) aclrtGetLastError(ACL_RT_THREAD_LEVEL);
        }
        stored[static_cast<std::size_t>(i)] = take();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  for (std::size_t i = 0; i < kThreads; ++i) {
    EXPECT_EQ(stored[i], i % 2 == 0 ? ACL_ERROR_RT_INVALID_DEVICEID : ACL_ERROR_RT_PARAM_INVALID)
        << "thread " << i;
  }
  EXPECT_EQ(peek(), ACL_SUCCESS);
}

// All these answer 100000 (or one of its series) and leave what was stored before.
TEST_F(LastError, R20_FirstLayerErrorsAreNotStored) {
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetCurrentContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyContext(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateContext(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetDeviceCount(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetTsDevice(ACL_TS_ID_RESERVED), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMalloc(nullptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclDestroyDataBuffer(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_REPEAT_FINALIZE);
  EXPECT_EQ(aclInit("/nowhere/acl.json"), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(take(), ACL_ERROR_RT_INVALID_DEVICEID);

  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(peek(), ACL_SUCCESS);
}

TEST_F(LastError, R20_PeerFlagsAreNotStored) {
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 1), ACL_ERROR_FEATURE_UNSUPPORTED);
  EXPECT_EQ(peek(), ACL_SUCCESS);
}

TEST_F(LastError, R20_R11_R56_OnlyTheTwoGettersKeepANoContextToThemselves) {
  on_new_thread([] {
    std::int32_t device = 0;
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(peek(), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(peek(), ACL_SUCCESS);
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(take(), ACL_ERROR_RT_CONTEXT_NULL);
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(take(), ACL_ERROR_RT_CONTEXT_NULL);
  });
}

TEST_F(LastError, R20_MissingFeaturesAreNotStored) {
  void* address = nullptr;
  EXPECT_EQ(aclrtCtxGetFloatOverflowAddr(&address), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  std::int64_t value = 0;
  EXPECT_EQ(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_HD_CONNECT_TYPE, &value), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtDeviceSetLimit(ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, 1024), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(peek(), ACL_SUCCESS);
}

TEST_F(LastError, R20_R61_ForcedResetsAreNotStored) {
  EXPECT_EQ(aclrtResetDeviceForce(7), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(peek(), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDeviceForce(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(peek(), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(7), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(aclrtResetDeviceForce(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(take(), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

TEST_F(LastError, R21_PeekLeavesItAndGetClearsIt) {
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(peek(), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(peek(), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(take(), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(take(), ACL_SUCCESS);
  EXPECT_EQ(peek(), ACL_SUCCESS);
}

TEST_F(LastError, R21_AWrongLevelLeavesTheSlotAlone) {
  const auto wrong = as_enum<aclrtLastErrLevel>(1);
  EXPECT_EQ(aclrtGetLastError(wrong), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(peek(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetLastError(wrong), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtPeekAtLastError(wrong), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(peek(), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(take(), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(LastError, R21_R19_ClearingOneThreadLeavesTheOthers) {
  Worker other;
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(other.ask([] { return aclrtSetDevice(99); }), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(take(), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(peek(), ACL_SUCCESS);
  EXPECT_EQ(other.ask(peek), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(other.ask(take), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(other.ask(take), ACL_SUCCESS);
}

TEST(LastErrorAlone, R19_R14_WorksAsTheFirstCallOfAProcess) {
  in_fresh_process([] {
    EXPECT_EQ(peek(), ACL_SUCCESS);
    EXPECT_EQ(take(), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(64), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_EQ(take(), ACL_ERROR_RT_INVALID_DEVICEID);
  });
}

}  // namespace last_error_test
