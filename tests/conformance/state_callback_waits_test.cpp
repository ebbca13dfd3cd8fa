// Callbacks of devices, streams and aborts that wait for other threads, call the same again, or throw.
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>

#include "support/captured_process.h"
#include "support/gates.h"
#include "support/streams.h"

namespace state_callback_waits_test {

using namespace belay_test;

using Told = std::function<void(int state)>;

void device_told(std::int32_t, aclrtDeviceState state, void* told) { (*static_cast<Told*>(told))(state); }
void stream_told(aclrtStream, aclrtStreamState state, void* told) { (*static_cast<Told*>(told))(state); }
std::int32_t abort_told(std::int32_t, aclrtDeviceTaskAbortStage stage, std::uint32_t, void* told) {
  (*static_cast<Told*>(told))(stage);
  return 0;
}

// In a process of its own: one that hangs fails the test.
void in_limited_process(const std::function<void()>& body) {
  const Ending ending = run_captured(body);
  EXPECT_TRUE(ending.clean()) << ending;
}

// Everything that registers, on another thread, which the caller waits for.
void register_on_another_thread() {
  std::thread([] {
    static Told nothing = [](int) {};
    EXPECT_EQ(aclrtRegDeviceStateCallback("other", device_told, &nothing), ACL_SUCCESS);
    EXPECT_EQ(aclrtRegStreamStateCallback("other", stream_told, &nothing), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("other", abort_told, &nothing), ACL_SUCCESS);
    EXPECT_EQ(aclrtRegDeviceStateCallback("other", nullptr, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtRegStreamStateCallback("other", nullptr, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("other", nullptr, nullptr), ACL_SUCCESS);
  }).join();
}

TEST(StateCallbackWaits, R99_ForAThreadThatSetsTheDeviceOrRegisters) {
  in_limited_process([] {
    bool inside = false;
    Told told = [&inside](int) {
      if (std::exchange(inside, true)) return;  // of the other thread, while this one waits for it
      register_on_another_thread();
      std::thread([] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
        EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
      }).join();
      inside = false;
    };
    EXPECT_EQ(aclrtRegDeviceStateCallback("waits", device_told, &told), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
}

TEST(StateCallbackWaits, R156_ForAThreadThatMakesStreamsOrRegisters) {
  in_limited_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    bool inside = false;
    int calls = 0;
    Told told = [&](int) {
      if (std::exchange(inside, true)) return;
      ++calls;
      register_on_another_thread();
      std::thread([] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        { const Stream other; }
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      }).join();
      inside = false;
    };
    EXPECT_EQ(aclrtRegStreamStateCallback("waits", stream_told, &told), ACL_SUCCESS);
    { const Stream stream; }
    EXPECT_EQ(calls, 2);
  });
}

TEST(StateCallbackWaits, R230_ForAThreadThatAbortsOrRegisters) {
  in_limited_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    int calls = 0;
    Told told = [&calls](int) {
      ++calls;
      register_on_another_thread();
      std::thread([] { EXPECT_EQ(aclrtDeviceTaskAbort(0, 1000), ACL_ERROR_RT_DEVICE_TASK_ABORT); }).join();
      EXPECT_EQ(aclrtDeviceTaskAbort(0, 1000), ACL_ERROR_RT_DEVICE_TASK_ABORT);
    };
    EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("waits", abort_told, &told), ACL_SUCCESS);
    EXPECT_EQ(aclrtDeviceTaskAbort(0, 1000), ACL_SUCCESS);
    EXPECT_EQ(calls, 2);
  });
}

TEST(StateCallbackWaits, R99_WhatIsUnregisteredBeforeItsTurnIsNotCalled) {
  in_limited_process([] {
    int second = 0, third = 0;
    Told told_second = [&second](int) { ++second; };
    Told told_third = [&third](int) { ++third; };
    Told told = [&](int state) {
      EXPECT_EQ(aclrtRegDeviceStateCallback("first", nullptr, nullptr), ACL_SUCCESS) << "itself";
      EXPECT_EQ(aclrtRegDeviceStateCallback("second", nullptr, nullptr), ACL_SUCCESS);
      if (state == ACL_RT_DEVICE_STATE_SET_PRE)
        EXPECT_EQ(aclrtRegDeviceStateCallback("third", device_told, &told_third), ACL_SUCCESS);
      EXPECT_EQ(third, 0) << "registered meanwhile: from the next time on";
    };
    EXPECT_EQ(aclrtRegDeviceStateCallback("first", device_told, &told), ACL_SUCCESS);
    EXPECT_EQ(aclrtRegDeviceStateCallback("second", device_told, &told_second), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(second, 0);
    EXPECT_EQ(third, 1) << "after the set";
  });
}

TEST(StateCallbackWaits, R156_R136_DestroyingTheStreamThatIsBeingDestroyed) {
  in_limited_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    aclrtStream stream = nullptr;
    int calls = 0;
    Told told = [&](int state) {
      if (state != ACL_RT_STREAM_STATE_DESTROY_PRE) return;
      ++calls;
      EXPECT_EQ(aclrtDestroyStream(stream), ACL_ERROR_RT_INVALID_HANDLE);
      EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_ERROR_RT_INVALID_HANDLE);
    };
    EXPECT_EQ(aclrtRegStreamStateCallback("again", stream_told, &told), ACL_SUCCESS);
    for (const auto destroy : {aclrtDestroyStream, aclrtDestroyStreamForce}) {
      EXPECT_EQ(::aclrtCreateStream(&stream), ACL_SUCCESS);
      EXPECT_EQ(destroy(stream), ACL_SUCCESS);
    }
    EXPECT_EQ(calls, 2);
  });
}

TEST(StateCallbackWaits, R230_R15_AnAbortWhoseCallbackThrowsIsOver) {
  in_limited_process([] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    Told told = [](int) { throw std::runtime_error{"of a callback"}; };
    EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("throws", abort_told, &told), ACL_SUCCESS);
    EXPECT_EQ(aclrtDeviceTaskAbort(0, 1000), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("throws", nullptr, nullptr), ACL_SUCCESS);
    const Device block{64};
    EXPECT_EQ(aclrtMemset(block.get(), 64, 1, 64), ACL_SUCCESS) << "the device takes work again";
    EXPECT_EQ(aclrtDeviceTaskAbort(0, 1000), ACL_SUCCESS);
  });
}

TEST(StateCallbackWaits, R99_R15_ADeviceWhoseOpeningWasNotToldToTheEndIsToldOfAgain) {
  in_limited_process([] {
    int openings = 0;
    Told told = [&openings](int state) {
      if (state == ACL_RT_DEVICE_STATE_SET_PRE && ++openings == 1) throw std::runtime_error{"of a callback"};
    };
    EXPECT_EQ(aclrtRegDeviceStateCallback("throws", device_told, &told), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_INTERNAL_ERROR);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(openings, 2);
  });
}

}  // namespace state_callback_waits_test
