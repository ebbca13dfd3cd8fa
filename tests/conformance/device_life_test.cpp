// Setting and resetting devices: ids, counts, and which context a thread is bound to.
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/device_fixture.h"
#include "support/worker.h"

namespace device_life_test {

using belay_test::on_new_thread;
using belay_test::recent_message;
using belay_test::Worker;

// -1 when the thread has no context.
std::int32_t current_device() {
  std::int32_t device = -1;
  const aclError answer = aclrtGetDevice(&device);
  EXPECT_TRUE(answer == ACL_SUCCESS || answer == ACL_ERROR_RT_CONTEXT_NULL) << answer;
  return answer == ACL_SUCCESS ? device : -1;
}

aclrtContext current_context() {
  aclrtContext context = nullptr;
  aclrtGetCurrentContext(&context);
  return context;
}

bool is_active(std::int32_t device) {
  std::int32_t active = -1;
  EXPECT_EQ(aclrtGetPrimaryCtxState(device, nullptr, &active), ACL_SUCCESS);
  return active == 1;
}

// No fixture: these tests count the sets and resets themselves.
class DeviceLife : public ::testing::Test {
 protected:
  void TearDown() override {
    for (std::int32_t device = 0; device < 8; ++device) aclrtResetDeviceForce(device);
  }
};

TEST_F(DeviceLife, R53_IdsOutsideTheCount) {
  EXPECT_EQ(aclrtSetDevice(7), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(7), ACL_SUCCESS);
  for (const std::int32_t device : {-1, 8, 64, 1000000, INT32_MIN, INT32_MAX}) {
    EXPECT_EQ(aclrtSetDevice(device), ACL_ERROR_RT_INVALID_DEVICEID) << device;
    EXPECT_EQ(aclrtResetDevice(device), ACL_ERROR_RT_INVALID_DEVICEID) << device;
    EXPECT_EQ(aclrtResetDeviceForce(device), ACL_ERROR_RT_INVALID_DEVICEID) << device;
  }
  EXPECT_EQ(current_device(), -1);
}

TEST_F(DeviceLife, R53_R105_ABadIdKeepsTheBinding) {
  EXPECT_EQ(aclrtSetDevice(3), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(current_device(), 3);
}

TEST_F(DeviceLife, R54_SettingBindsTheDefaultContext) {
  EXPECT_EQ(current_device(), -1);
  EXPECT_FALSE(is_active(2));
  EXPECT_EQ(aclrtSetDevice(2), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 2);
  EXPECT_TRUE(is_active(2));
  const aclrtContext first = current_context();
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(aclrtSetDevice(2), ACL_SUCCESS);
  EXPECT_EQ(current_context(), first) << "the context is made once";
  EXPECT_EQ(aclrtResetDevice(2), ACL_SUCCESS);
  EXPECT_TRUE(is_active(2)) << "two sets, one reset";
  EXPECT_EQ(aclrtResetDevice(2), ACL_SUCCESS);
  EXPECT_FALSE(is_active(2));
}

TEST_F(DeviceLife, R54_R105_AlsoWhenAnExplicitContextWasBound) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtContext primary = current_context();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 1);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(current_context(), primary);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(current_context(), primary);
}

TEST_F(DeviceLife, R55_R108_ThreadsShareTheDefaultContext) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtContext mine = current_context();
  aclrtStream my_stream = nullptr;
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&my_stream), ACL_SUCCESS);
  on_new_thread([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(current_context(), mine);
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&stream), ACL_SUCCESS);
    EXPECT_EQ(stream, my_stream);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(current_context(), mine);
}

TEST_F(DeviceLife, R56_ANewThreadHasNoContext) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  on_new_thread([] {
    std::int32_t device = 0;
    aclrtContext context = nullptr;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetCurrentContext(&context), ACL_ERROR_RT_CONTEXT_NULL);
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
  });
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  on_new_thread([] { EXPECT_EQ(current_device(), -1); });
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(DeviceLife, R57_AnotherDeviceKeepsTheFormersCount) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtContext zero = current_context();
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 1);
  EXPECT_NE(current_context(), zero);
  EXPECT_TRUE(is_active(0));
  EXPECT_EQ(aclrtSetCurrentContext(zero), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) << "it was set once";
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
}

TEST_F(DeviceLife, R58_TheLastResetEndsTheDefaultContext) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const aclrtContext primary = current_context();
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);

  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);  // nothing visible
  EXPECT_EQ(current_context(), primary);
  EXPECT_EQ(aclrtMemset(block, 4096, 1, 4096), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);

  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(current_device(), -1);
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_FALSE(is_active(0));
}

TEST_F(DeviceLife, R60_R221_ResettingOnceTooOften) {
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) << "never set";
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  recent_message();
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  const std::string text = recent_message();
  EXPECT_NE(text.find("EE1018"), std::string::npos) << text;
  EXPECT_NE(text.find("aclrtResetDevice"), std::string::npos) << text;
}

TEST_F(DeviceLife, R61_ForceIgnoresTheCount) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
  EXPECT_FALSE(is_active(0));
  EXPECT_EQ(current_device(), -1);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

// S, R and F are set, reset and forced reset of device 0; the last call gives the answer.
aclError play(const std::string& sequence) {
  aclError answer = ACL_SUCCESS;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    switch (sequence[i]) {
      case 'S':
        answer = aclrtSetDevice(0);
        break;
      case 'R':
        answer = aclrtResetDevice(0);
        break;
      default:
        answer = aclrtResetDeviceForce(0);
        break;
    }
    if (i + 1 < sequence.size()) {
      EXPECT_EQ(answer, ACL_SUCCESS) << sequence << " call " << i + 1;
    }
  }
  aclrtResetDeviceForce(0);
  return answer;
}

TEST_F(DeviceLife, R62_Sequences) {
  for (const char* legal : {"SRSF", "SSRF", "SR", "SF", "SSF", "SSRR", "SFSR"}) {
    EXPECT_EQ(play(legal), ACL_SUCCESS) << legal;
  }
  for (const char* illegal : {"SSRRF", "SSRFF", "SSFR", "SRR", "SFF", "SFR", "SSRRR"}) {
    EXPECT_EQ(play(illegal), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) << illegal;
  }
}

TEST_F(DeviceLife, R62_TwoThreadsThatBothForce) {
  Worker one, two;
  EXPECT_EQ(one.ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
  EXPECT_EQ(two.ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
  EXPECT_EQ(one.ask([] { return aclrtResetDeviceForce(0); }), ACL_SUCCESS);
  EXPECT_EQ(two.ask([] { return aclrtResetDeviceForce(0); }), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
}

TEST_F(DeviceLife, R63_AnotherDevicesBindingStays) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 1);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(current_device(), 1);
}

TEST_F(DeviceLife, R63_AnExplicitContextStaysCurrent) {
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(current_context(), context);
  EXPECT_EQ(current_device(), 0);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(DeviceLife, R63_OtherThreadsNoticeAtTheirNextCall) {
  Worker other;
  EXPECT_EQ(other.ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS) << "one thread may reset what another has set";
  EXPECT_EQ(other.ask([] {
    void* block = nullptr;
    return aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  }),
            ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(other.ask(current_device), -1);
  EXPECT_EQ(other.ask([] { return aclrtSetDevice(0); }), ACL_SUCCESS);
  EXPECT_EQ(other.ask(current_device), 0);
}

TEST_F(DeviceLife, R68_GetDevice) {
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  std::int32_t device = 77;
  aclrtGetLastError(ACL_RT_THREAD_LEVEL);
  EXPECT_EQ(aclrtGetDevice(&device), ACL_ERROR_RT_CONTEXT_NULL);
  EXPECT_EQ(device, 77);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  for (std::int32_t id = 0; id < 8; ++id) {
    EXPECT_EQ(aclrtSetDevice(id), ACL_SUCCESS);
    EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    EXPECT_EQ(device, id);
  }
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(DeviceLife, R54_R58_R18_SixtyFourThreadsSetAndReset) {
  constexpr int kThreads = 64, kRounds = 50;
  std::atomic<int> wrong{0}, ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      const std::int32_t device = i % 2;
      for (int round = 0; round < kRounds; ++round) {
        std::int32_t seen = -1;
        if (aclrtSetDevice(device) != ACL_SUCCESS) ++wrong;
        if (aclrtGetDevice(&seen) != ACL_SUCCESS || seen != device) ++wrong;
        if (aclrtResetDevice(device) != ACL_SUCCESS) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  for (const std::int32_t device : {0, 1}) {
    EXPECT_FALSE(is_active(device));
    EXPECT_EQ(aclrtResetDevice(device), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR) << "every set was taken back";
  }
}

}  // namespace device_life_test
