// When a device closes, what goes with it, and processes that end or fork.
#include <stdlib.h>

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "support/captured_process.h"
#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/sanitizer.h"
#include "support/slices.h"
#include "support/worker.h"

namespace device_close_test {

using belay_test::Ending;
using belay_test::in_fresh_process;
using belay_test::run_captured;
using belay_test::Worker;

// Leaks are on purpose here.

void* new_block(std::size_t size = 4096) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, size, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  return block;
}

aclError read_byte(const void* block) {
  char byte = 0;
  return aclrtMemcpy(&byte, 1, block, 1, ACL_MEMCPY_DEVICE_TO_HOST);
}

TEST(DeviceClose, R64_ExplicitContextsOutliveTheReset) {
  in_fresh_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* early = new_block();
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    aclrtStream stream = nullptr, later = nullptr;
    EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);

    void* late = new_block();
    EXPECT_EQ(read_byte(late), ACL_SUCCESS);
    EXPECT_EQ(read_byte(early), ACL_SUCCESS) << "the device is still open";
    EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&later), ACL_SUCCESS);
    EXPECT_EQ(later, stream);
    Worker other;
    EXPECT_EQ(other.ask([&] { return aclrtSetCurrentContext(context); }), ACL_SUCCESS);
    EXPECT_EQ(other.ask([&] { return read_byte(late); }), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(early), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(late), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  });
}

TEST(DeviceClose, R64_R61_AForcedResetSparesThemToo) {
  in_fresh_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    void* block = new_block();
    EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    EXPECT_EQ(read_byte(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  });
}

TEST(DeviceClose, R65_TheLastResetTakesTheMemory) {
  in_fresh_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    const std::size_t free_before = belay_test::free_bytes();
    void* freed = new_block();
    void* copied = new_block(belay_test::kMB);
    EXPECT_LT(belay_test::free_bytes(), free_before);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);

    EXPECT_EQ(aclrtFree(freed), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(belay_test::free_bytes(), free_before);
    EXPECT_EQ(read_byte(copied), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
    EXPECT_EQ(aclrtMemset(copied, 64, 0, 64), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
    EXPECT_EQ(aclrtFree(copied), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
}

TEST(DeviceClose, R65_R61_SoDoesAForcedOne) {
  in_fresh_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = new_block();
    EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
  });
}

TEST(DeviceClose, R65_OrTheLastContextAfterIt) {
  in_fresh_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext one = nullptr, two = nullptr;
    ASSERT_EQ(aclrtCreateContext(&one, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateContext(&two, 0), ACL_SUCCESS);
    void* block = new_block();
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(one), ACL_SUCCESS);
    EXPECT_EQ(read_byte(block), ACL_SUCCESS) << "one context is left";
    EXPECT_EQ(aclrtDestroyContext(two), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(read_byte(block), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
  });
}

TEST(DeviceClose, R65_ContextsAloneOpenAndCloseADevice) {
  in_fresh_process([] {
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    void* block = new_block();
    EXPECT_EQ(read_byte(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
  });
}

TEST(DeviceClose, R65_ADestroyedContextBeforeTheResetTakesNothing) {
  in_fresh_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    void* block = new_block();
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
}

TEST(DeviceClose, R65_OnlyTheDeviceThatClosed) {
  in_fresh_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* zero = new_block();
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    void* one = new_block();
    void* pinned = nullptr;
    EXPECT_EQ(aclrtMallocHost(&pinned, 4096), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(read_byte(zero), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
    EXPECT_EQ(read_byte(one), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(one), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
    static_cast<char*>(pinned)[4095] = 1;
    EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
  });
}

// Threads at work on a device that is reset under them: calls fail, nothing crashes.
TEST(DeviceClose, R65_R63_R18_ResettingWhileOthersCopy) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the stray fills of this test race with each other on purpose";
#endif
  in_fresh_process([] {
    std::atomic<bool> over{false};
    std::atomic<int> worked{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) {
      threads.emplace_back([&over, &worked] {
        std::vector<char> bytes(64 * belay_test::kKB);
        while (!over) {
          ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
          void* block = nullptr;
          const aclError made = aclrtMalloc(&block, bytes.size(), ACL_MEM_MALLOC_NORMAL_ONLY);
          if (made != ACL_SUCCESS) {
            EXPECT_EQ(made, ACL_ERROR_RT_CONTEXT_NULL);
            continue;
          }
          for (const aclError answer :
               {aclrtMemset(block, bytes.size(), 1, bytes.size()),
                aclrtMemcpy(bytes.data(), bytes.size(), block, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST)}) {
            EXPECT_TRUE(answer == ACL_SUCCESS || answer == ACL_ERROR_RT_CONTEXT_NULL ||
                        answer == ACL_ERROR_RT_DRV_INTERNAL_ERROR)
                << answer;
            if (answer == ACL_SUCCESS) ++worked;
          }
          const aclError freed = aclrtFree(block);
          EXPECT_TRUE(freed == ACL_SUCCESS || freed == ACL_ERROR_RT_PARAM_INVALID) << freed;
        }
      });
    }
    for (int round = 0; round < belay_test::slice(80, 1500, 3); ++round) {
      const aclError answer = aclrtResetDeviceForce(0);
      EXPECT_TRUE(answer == ACL_SUCCESS || answer == ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) << answer;
      std::this_thread::yield();
    }
    while (worked == 0) std::this_thread::yield();
    over = true;
    for (std::thread& thread : threads) thread.join();
  });
}

// The choice cannot be read back: what shows is that a reset in between never disturbs it.
TEST(DeviceClose, R66_R100_AResetAfterASchedulerChoice) {
  in_fresh_process([] {
    for (const aclrtTsId choice : {ACL_TS_ID_AIVECTOR, ACL_TS_ID_AICORE}) {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetTsDevice(choice), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void* block = new_block();
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetTsDevice(choice), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    }
  });
}

TEST(DeviceClose, R67_EndingWithoutAReset) {
  const Ending ending = run_captured([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    new_block(64 * belay_test::kMB);
    if (!::testing::Test::HasFailure()) ::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
}

TEST(DeviceClose, R67_TheNextProcessFindsEverythingFree) {
  std::size_t before = 0, after = 0;
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  before = belay_test::free_bytes();
  const Ending ending = run_captured([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    new_block(64 * belay_test::kMB);
    if (!::testing::Test::HasFailure()) ::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  after = belay_test::free_bytes();
  EXPECT_EQ(after, before);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST(DeviceClose, R69_AForkedChildStartsAfresh) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext primary = nullptr, context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&primary), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  void* block = new_block();

  in_fresh_process([&] {
    std::int32_t device = -1, active = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetPrimaryCtxState(0, nullptr, &active), ACL_SUCCESS);
    EXPECT_EQ(active, 0);
    EXPECT_EQ(aclrtSetCurrentContext(context), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtDestroyContext(context), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
    EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* own = new_block();
    EXPECT_EQ(aclrtMemset(own, 4096, 3, 4096), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(own), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });

  std::int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS) << "the parent goes on as before";
  EXPECT_EQ(device, 1);
  EXPECT_EQ(read_byte(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

// The child must not wait for a lock that a thread of the parent held at that moment.
TEST(DeviceClose, R69_R18_ForkingWhileThreadsWork) {
  if (belay_test::kUnderASanitizer)
    GTEST_SKIP() << "the sanitizer's own allocator keeps its locks across a fork";
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&over] {
      while (!over) {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclrtFree(new_block()), ACL_SUCCESS);
        EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
        aclGetRecentErrMsg();
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      }
    });
  }
  for (int round = 0; round < belay_test::slice(20, 500) && !::testing::Test::HasFailure(); ++round) {
    const Ending ending = run_captured(
        [] {
          EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
          EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
          EXPECT_EQ(aclrtFree(new_block()), ACL_SUCCESS);
          EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
          EXPECT_NE(aclGetRecentErrMsg(), nullptr);
          EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
          EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
        },
        20);
    EXPECT_TRUE(ending.clean()) << ending;
  }
  over = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(DeviceClose, R69_R19_InitAndLastErrorAreNewToo) {
  in_fresh_process([] {
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
    in_fresh_process([] {
      EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
      EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    });
    EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  });
}

}  // namespace device_close_test
