// Callbacks around setting and resetting a device.
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/device_fixture.h"
#include "support/worker.h"

namespace device_state_callback_test {

using belay_test::on_new_thread;

struct Event {
  std::int32_t device;
  aclrtDeviceState state;
  std::thread::id thread;
};

// "0:PRE 0:POST", the events in their order.
std::string text(const std::vector<Event>& events) {
  static constexpr const char* kNames[] = {"set-pre", "set-post", "reset-pre", "reset-post"};
  std::string all;
  for (const Event& event : events) {
    if (!all.empty()) all += ' ';
    all += std::to_string(event.device) + ':' + kNames[event.state];
  }
  return all;
}

void note(std::int32_t device, aclrtDeviceState state, void* events) {
  static_cast<std::vector<Event>*>(events)->push_back({device, state, std::this_thread::get_id()});
}

std::vector<Event> seen;

std::string new_events() {
  const std::string all = text(seen);
  seen.clear();
  return all;
}

// Every test starts with closed devices and ends without registrations.
class DeviceStateCallback : public ::testing::Test {
 protected:
  void SetUp() override { seen.clear(); }
  void TearDown() override {
    for (const char* name : {"watch", "second", "third"}) {
      EXPECT_EQ(aclrtRegDeviceStateCallback(name, nullptr, nullptr), ACL_SUCCESS);
    }
    for (std::int32_t device = 0; device < 8; ++device) aclrtResetDeviceForce(device);
  }
};

TEST_F(DeviceStateCallback, R98_Names) {
  EXPECT_EQ(aclrtRegDeviceStateCallback(nullptr, note, &seen), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtRegDeviceStateCallback(nullptr, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRegDeviceStateCallback("second", note, &seen), ACL_SUCCESS) << "another name, same function";
}

TEST_F(DeviceStateCallback, R98_UnregisteringAlwaysSucceeds) {
  EXPECT_EQ(aclrtRegDeviceStateCallback("never registered", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "");
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS) << "the name is free again";
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "0:set-post");
}

TEST_F(DeviceStateCallback, R98_TheNameIsCopied) {
  char name[] = "watch";
  EXPECT_EQ(aclrtRegDeviceStateCallback(name, note, &seen), ACL_SUCCESS);
  name[0] = 'c';
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRegDeviceStateCallback(name, nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "0:set-pre 0:set-post");
}

TEST_F(DeviceStateCallback, R99_SettingTwiceOpensOnce) {
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "0:set-pre 0:set-post");
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "0:set-post");
  EXPECT_EQ(aclrtSetDevice(3), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "3:set-pre 3:set-post");
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "0:set-post");
}

TEST_F(DeviceStateCallback, R99_OnlyTheRealReleaseIsReported) {
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  new_events();
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "");
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "0:reset-pre 0:reset-post");
  EXPECT_EQ(aclrtResetDevice(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(aclrtResetDeviceForce(0), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR);
  EXPECT_EQ(new_events(), "");
}

TEST_F(DeviceStateCallback, R99_R61_AForcedResetIsARelease) {
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(aclrtSetDevice(2), ACL_SUCCESS);
  new_events();
  EXPECT_EQ(aclrtResetDeviceForce(2), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "2:reset-pre 2:reset-post");
}

TEST_F(DeviceStateCallback, R99_R64_AlsoWhenAContextKeepsTheDeviceOpen) {
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  new_events();
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "0:reset-pre 0:reset-post") << "the count reached 0";
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(DeviceStateCallback, R99_FailedSetsAreNotReported) {
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtResetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(new_events(), "");
}

TEST_F(DeviceStateCallback, R99_EveryNameIsCalledWithItsOwnArgument) {
  std::vector<Event> second, third;
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("second", note, &second), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("third", note, &third), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("second", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(text(second), "0:set-pre 0:set-post");
  EXPECT_EQ(text(third), "0:set-pre 0:set-post 0:reset-pre 0:reset-post");
  EXPECT_EQ(new_events(), "0:set-pre 0:set-post 0:reset-pre 0:reset-post");
}

TEST_F(DeviceStateCallback, R99_OnTheCallingThread) {
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", note, &seen), ACL_SUCCESS);
  std::thread::id worker;
  on_new_thread([&worker] {
    worker = std::this_thread::get_id();
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  });
  ASSERT_EQ(seen.size(), 2U);
  for (const Event& event : seen) EXPECT_EQ(event.thread, worker);
  seen.clear();
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  ASSERT_EQ(seen.size(), 2U);
  for (const Event& event : seen) EXPECT_EQ(event.thread, std::this_thread::get_id());
}

// A callback may call the library, also to register and unregister.
std::int32_t device_in_callback = -2;

void meddle(std::int32_t device, aclrtDeviceState state, void* events) {
  note(device, state, events);
  if (state == ACL_RT_DEVICE_STATE_SET_POST) {
    aclrtGetDevice(&device_in_callback);
    EXPECT_EQ(aclrtRegDeviceStateCallback("second", nullptr, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtRegDeviceStateCallback("third", note, events), ACL_SUCCESS);
    EXPECT_EQ(aclrtRegDeviceStateCallback("watch", nullptr, nullptr), ACL_SUCCESS);
  }
}

TEST_F(DeviceStateCallback, R99_CallbacksMayRegisterAndAsk) {
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", meddle, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(4), ACL_SUCCESS);
  EXPECT_EQ(device_in_callback, 4) << "at the end of the call the device is current";
  seen.clear();
  EXPECT_EQ(aclrtResetDevice(4), ACL_SUCCESS);
  EXPECT_EQ(new_events(), "4:reset-pre 4:reset-post") << "from the one that was registered inside";
}

std::atomic<int> counts[4];

void count(std::int32_t, aclrtDeviceState state, void*) { ++counts[state]; }

TEST_F(DeviceStateCallback, R99_R18_CountsAddUpOverThreads) {
  constexpr int kThreads = 16, kRounds = 40;
  for (std::atomic<int>& number : counts) number = 0;
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", count, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);  // keeps it open
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      const std::string name = "own " + std::to_string(i);
      for (int round = 0; round < kRounds; ++round) {
        EXPECT_EQ(aclrtRegDeviceStateCallback(
                      name.c_str(), [](std::int32_t, aclrtDeviceState, void*) {}, nullptr),
                  ACL_SUCCESS);
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclrtRegDeviceStateCallback(name.c_str(), nullptr, nullptr), ACL_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counts[ACL_RT_DEVICE_STATE_SET_PRE], 1);
  EXPECT_EQ(counts[ACL_RT_DEVICE_STATE_SET_POST], 1 + kThreads * kRounds);
  EXPECT_EQ(counts[ACL_RT_DEVICE_STATE_RESET_PRE], 0);
  EXPECT_EQ(counts[ACL_RT_DEVICE_STATE_RESET_POST], 0);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(counts[ACL_RT_DEVICE_STATE_RESET_PRE], 1);
  EXPECT_EQ(counts[ACL_RT_DEVICE_STATE_RESET_POST], 1);
}

}  // namespace device_state_callback_test
