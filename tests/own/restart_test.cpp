// belay_restart: everything ends, and the settings of the moment hold.

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "belay/belay.h"
#include "support/device_fixture.h"
#include "support/sanitizer.h"
#include "support/settings.h"
#include "support/waiting.h"

namespace restart_test {

using namespace belay_test;

std::size_t status_kb(const std::string& field) {
  std::ifstream status{"/proc/self/status"};
  for (std::string name; status >> name;) {
    if (name == field + ":") {
      std::size_t value = 0;
      status >> value;
      return value;
    }
  }
  ADD_FAILURE() << field << " is not in /proc/self/status";
  return 0;
}

struct Setting {
  Setting(const char* name, const char* value) : name_{name} { ::setenv(name, value, 1); }
  ~Setting() { ::unsetenv(name_); }
  const char* name_;
};

void* allocate(std::size_t bytes) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  return block;
}

TEST(Restart, WithoutARuntimeItMakesOne) {
  in_fresh_process({}, [] {
    const std::uint64_t before = belay_generation();
    EXPECT_EQ(belay_restart(), 0);
    EXPECT_EQ(belay_generation(), before + 1);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  });
}

TEST(Restart, EverythingOldIsGone) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const std::size_t free_before = free_bytes();
  void* block = allocate(8 * kMB);
  void* host = nullptr;
  ASSERT_EQ(aclrtMallocHost(&host, 64 * kKB), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);

  ASSERT_EQ(belay_restart(), 0);

  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  std::int32_t device = 0;
  EXPECT_NE(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_NE(aclrtSetCurrentContext(context), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), free_before);
  EXPECT_NE(aclrtFree(block), ACL_SUCCESS);
  EXPECT_NE(aclrtFreeHost(host), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_NE(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << "as if for the first time";
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST(Restart, TheSettingsOfTheMomentHold) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  {
    const Setting product{"BELAY_PRODUCT", "310P"};
    const Setting memory{"BELAY_HBM", "1G"};
    ASSERT_EQ(belay_restart(), 0);
    EXPECT_STREQ(aclrtGetSocName(), "Ascend310P3");
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), 1 * kGB);
    EXPECT_EQ(belay_device_count(), 4U);
  }
  ASSERT_EQ(belay_restart(), 0);
  EXPECT_STREQ(aclrtGetSocName(), "Ascend910B3");
  EXPECT_EQ(belay_device_count(), 8U);
}

TEST(Restart, AWrongSettingIsTold_AndARightOneHelps) {
  {
    const Setting wrong{"BELAY_HBM", "much"};
    EXPECT_NE(belay_restart(), 0);
    EXPECT_NE(recent_message().find("BELAY_HBM"), std::string::npos);
    EXPECT_NE(aclrtSetDevice(0), ACL_SUCCESS);
  }
  EXPECT_EQ(belay_restart(), 0);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
}

TEST(Restart, WorkThatNeverEndsIsDropped) {
  for (const char* schedule : {"eager", "fifo", "lazy", "seed:7"}) {
    SCOPED_TRACE(schedule);
    const Setting setting{"BELAY_SCHEDULE", schedule};
    ASSERT_EQ(belay_restart(), 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* word = allocate(64);
    ASSERT_EQ(aclrtMemset(word, 64, 0, 64), ACL_SUCCESS);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtValueWait(word, 1, ACL_STREAM_WAIT_VALUE_EQ, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(word, 64, 3, 64, stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(
                  stream, [](void*) { ADD_FAILURE() << "was dropped"; }, nullptr),
              ACL_SUCCESS);
    EXPECT_EQ(belay_restart(), 0);
  }
  EXPECT_EQ(belay_restart(), 0);
}

TEST(Restart, AHostFunctionThatRunsIsAwaited) {
  static std::atomic<int> state{0};
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  const auto slow = [](void*) {
    state = 1;
    let_time_pass(50ms);  // whoever does not wait finds 1
    state = 2;
  };
  ASSERT_EQ(aclrtLaunchHostFunc(stream, slow, nullptr), ACL_SUCCESS);
  EXPECT_TRUE(eventually([] { return state != 0; }));
  EXPECT_EQ(belay_restart(), 0);
  EXPECT_EQ(state, 2);
}

TEST(Restart, AnotherThreadIsBoundToNothingAfterwards) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  std::atomic<int> step{0};
  std::thread other{[&] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* kept = allocate(kMB);
    ASSERT_EQ(aclrtFree(kept), ACL_SUCCESS);  // now in this thread's own store
    step = 1;
    EXPECT_TRUE(eventually([&] { return step == 2; }));
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_CONTEXT_NULL);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    block = allocate(kMB);
    EXPECT_EQ(aclrtMemset(block, kMB, 1, kMB), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  }};
  EXPECT_TRUE(eventually([&] { return step == 1; }));
  ASSERT_EQ(belay_restart(), 0);
  step = 2;
  other.join();
  ASSERT_EQ(belay_restart(), 0);
}

TEST(Restart, ManyOfThemLeaveNothingBehind) {
  const auto round = [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = allocate(16 * kMB);
    ASSERT_EQ(aclrtMemset(block, 16 * kMB, 1, 16 * kMB), ACL_SUCCESS);
    void* host = nullptr;
    ASSERT_EQ(aclrtMallocHost(&host, 64 * kKB), ACL_SUCCESS);
    void* mapped = nullptr;
    ASSERT_EQ(aclrtHostRegister(host, 4 * kKB, ACL_HOST_REGISTER_MAPPED, &mapped), ACL_SUCCESS);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(block, 64 * kKB, host, 64 * kKB, ACL_MEMCPY_HOST_TO_DEVICE, stream),
              ACL_SUCCESS);
    ASSERT_EQ(belay_restart(), 0);
  };
  for (int i = 0; i < 5; ++i) round();
  const std::size_t resident = status_kb("VmRSS");
  const std::size_t locked = status_kb("VmLck");
  const std::size_t threads = status_kb("Threads");
  const std::size_t addresses = status_kb("VmSize");
  for (int i = 0; i < 50; ++i) round();
  if (!kUnderASanitizer) {  // which keep freed memory for a while
    EXPECT_LT(status_kb("VmRSS"), resident + 16 * 1024);
    EXPECT_LT(status_kb("VmSize"), addresses + 1024 * 1024);
  }
  EXPECT_LE(status_kb("VmLck"), locked);
  EXPECT_LE(status_kb("Threads"), threads + 2);
}

TEST(Restart, AForkedChildStartsAfreshAfterOne) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  allocate(kMB);
  ASSERT_EQ(belay_restart(), 0);
  in_fresh_process({{"BELAY_HBM", "2G"}}, [] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(free_bytes(), 2 * kGB);
    EXPECT_EQ(belay_restart(), 0);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    allocate(kMB);
  });
}

TEST(Restart, HostTouchesAreStillExplained) {
  ASSERT_EQ(belay_restart(), 0);
  EXPECT_DEATH(
      {
        (void)aclrtSetDevice(0);
        auto* block = static_cast<volatile char*>(allocate(kMB));
        block[0] = 1;
      },
      "host code wrote to 0x[0-9a-f]+, which is device memory");
}

TEST(Restart, EndingStartsNothing) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  const std::uint64_t before = belay_generation();
  ASSERT_EQ(belay_end(), 0);
  EXPECT_EQ(belay_generation(), before + 1);
  {
    const Setting wrong{"BELAY_HBM", "much"};
    EXPECT_EQ(belay_end(), 0) << "nobody reads it";
  }
  const Setting memory{"BELAY_HBM", "2G"};
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(free_bytes(), 2 * kGB);
  ::unsetenv("BELAY_HBM");
  EXPECT_EQ(belay_restart(), 0);
}

TEST(Restart, WhatIsCalledMeanwhileMayCall) {
  static std::atomic<int> asked{0};
  const auto ask = [](void*) {
    std::uint32_t count = 0;
    let_time_pass(20ms);  // so that it is the restart that waits for it
    if (aclrtGetDeviceCount(&count) == ACL_SUCCESS) ++asked;
  };
  ASSERT_EQ(aclrtRegStreamStateCallback(
                "ask", [](aclrtStream, aclrtStreamState, void*) { (void)aclrtGetSocName(); }, nullptr),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  static std::atomic<bool> inside{false};
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream, [](void*) { inside = true; }, nullptr),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream, ask, nullptr), ACL_SUCCESS);
  EXPECT_TRUE(eventually([] { return inside.load(); }));
  let_time_pass(5ms);  // likely the second one runs by now; it may or may not
  EXPECT_EQ(belay_restart(), 0);
  EXPECT_LE(asked, 1);
}

TEST(Restart, ACallbackCannotDoIt) {
  static std::atomic<int> answer{-1};
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream, [](void*) { answer = belay_restart(); }, nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(answer, ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(belay_restart(), 0);
}

std::atomic<int> g_dropped{0};
std::atomic<int> g_called{0};
void count_call(void*) { ++g_called; }
void count_drop(void (*function)(void*), void* argument) {
  EXPECT_EQ(function, count_call);
  EXPECT_EQ(argument, &g_dropped);
  ++g_dropped;
}

// How a stream loses what was queued on it.
class DroppedCallbacks : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    g_dropped = g_called = 0;
    belay_on_dropped_callback(count_drop);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(belay_restart(), 0);
    belay_on_dropped_callback(nullptr);
  }
  void end(const std::string& way) {
    if (way == "abort") EXPECT_EQ(aclrtStreamAbort(stream_), ACL_SUCCESS);
    if (way == "destroy") EXPECT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
    if (way == "unsubscribe") {
      EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), stream_), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    }
    if (way == "reset") EXPECT_EQ(aclrtResetDeviceForce(0), ACL_SUCCESS);
    if (way == "restart") EXPECT_EQ(belay_restart(), 0);
  }
  aclrtStream stream_ = nullptr;
};

TEST_P(DroppedCallbacks, AreToldOnceEach) {
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream_), ACL_SUCCESS);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(aclrtLaunchCallback(count_call, &g_dropped,
                                  i % 2 == 0 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK, stream_),
              ACL_SUCCESS);
  }
  end(GetParam());
  EXPECT_EQ(belay_restart(), 0);
  EXPECT_EQ(g_called, 0);
  EXPECT_EQ(g_dropped, 5);
}

TEST_P(DroppedCallbacks, ThoseThatRanAreNot) {
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback(count_call, &g_dropped, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtProcessReport(5000), ACL_SUCCESS);
  end(GetParam());
  EXPECT_EQ(belay_restart(), 0);
  EXPECT_EQ(g_called, 1);
  EXPECT_EQ(g_dropped, 0);
}

TEST_P(DroppedCallbacks, NorThoseThatWereRefused) {
  EXPECT_NE(aclrtLaunchCallback(count_call, &g_dropped, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS)
      << "nobody listens";
  EXPECT_EQ(belay_restart(), 0);
  EXPECT_EQ(g_dropped, 0);
}

INSTANTIATE_TEST_SUITE_P(Way, DroppedCallbacks,
                         ::testing::Values("abort", "destroy", "unsubscribe", "reset", "restart"),
                         [](const auto& each) { return std::string{each.param}; });

}  // namespace restart_test
