// Callbacks around the making and ending of streams.
#include <cstdint>
#include <vector>

#include "support/streams.h"
#include "support/worker.h"

namespace stream_state_callback_test {

using namespace belay_test;

struct Seen {
  aclrtStream stream;
  aclrtStreamState state;
  void* args;
  bool alive;  // the stream answered its id during the call
  std::thread::id thread;
};
std::vector<Seen> seen;

void note(aclrtStream stream, aclrtStreamState state, void* args) {
  std::int32_t id = -1;
  const bool alive_ = aclrtStreamGetId(stream, &id) == ACL_SUCCESS && id >= 0;
  seen.push_back({stream, state, args, alive_, std::this_thread::get_id()});
}

void expect_one(aclrtStream stream, aclrtStreamState state) {
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].stream, stream);
  EXPECT_EQ(seen[0].state, state);
  EXPECT_TRUE(seen[0].alive) << "it is there during the call";
  EXPECT_EQ(seen[0].thread, std::this_thread::get_id());
  seen.clear();
}

class StreamStateCallback : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    seen.clear();
  }
  void TearDown() override {
    for (const char* name : {"watch", "second"})
      EXPECT_EQ(aclrtRegStreamStateCallback(name, nullptr, nullptr), ACL_SUCCESS);
    OnDevice::TearDown();
  }
};

TEST_F(StreamStateCallback, R156_R98_Names) {
  EXPECT_EQ(aclrtRegStreamStateCallback(nullptr, note, nullptr), kBadArgument);
  EXPECT_EQ(aclrtRegStreamStateCallback(nullptr, nullptr, nullptr), kBadArgument);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegStreamStateCallback("watch", note, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegStreamStateCallback("watch", note, nullptr), kBadValue) << "the name is taken";
  EXPECT_EQ(last_error(), kBadValue);
  EXPECT_EQ(aclrtRegStreamStateCallback("second", note, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegStreamStateCallback("never registered", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegStreamStateCallback("watch", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegStreamStateCallback("watch", note, nullptr), ACL_SUCCESS) << "free again";
  without_context([] {
    EXPECT_EQ(aclrtRegStreamStateCallback("watch", nullptr, nullptr), ACL_SUCCESS) << "no context is needed";
  });
  char name[] = "watch";
  EXPECT_EQ(aclrtRegStreamStateCallback(name, note, nullptr), ACL_SUCCESS);
  name[0] = 'c';
  EXPECT_EQ(aclrtRegStreamStateCallback("watch", note, nullptr), kBadValue) << "the name was copied";
  // The devices' callbacks are another register.
  EXPECT_EQ(aclrtRegDeviceStateCallback(
                "watch", [](std::int32_t, aclrtDeviceState, void*) {}, nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtRegDeviceStateCallback("watch", nullptr, nullptr), ACL_SUCCESS);
}

TEST_F(StreamStateCallback, R156_AfterMakingAndBeforeEnding) {
  int mine = 0;
  EXPECT_EQ(aclrtRegStreamStateCallback("watch", note, &mine), ACL_SUCCESS);
  for (const bool force : {false, true}) {
    aclrtStream const stream = new_stream();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].args, &mine);
    expect_one(stream, ACL_RT_STREAM_STATE_CREATE_POST);
    EXPECT_EQ(force ? aclrtDestroyStreamForce(stream) : aclrtDestroyStream(stream), ACL_SUCCESS);
    expect_one(stream, ACL_RT_STREAM_STATE_DESTROY_PRE);
  }
  aclrtStream stream = nullptr;
  EXPECT_EQ(::aclrtCreateStream(&stream), ACL_SUCCESS);
  expect_one(stream, ACL_RT_STREAM_STATE_CREATE_POST);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(StreamStateCallback, R156_FailuresAreNotTold) {
  aclrtStream const stale = stale_stream();
  EXPECT_EQ(aclrtRegStreamStateCallback("watch", note, nullptr), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  EXPECT_EQ(::aclrtCreateStream(nullptr), kBadArgument);
  EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY | 1), kBadValue);
  without_context([&] { EXPECT_EQ(::aclrtCreateStream(&stream), kNoContext); });
  EXPECT_EQ(aclrtDestroyStream(stale), kStale);
  EXPECT_EQ(aclrtDestroyStream(nullptr), kBadArgument);
  EXPECT_EQ(aclrtDestroyStream(default_stream()), kBadValue);
  EXPECT_EQ(seen.size(), 0U);
}

TEST_F(StreamStateCallback, R156_SeveralNamesAreAllCalled) {
  int one = 0, two = 0;
  EXPECT_EQ(aclrtRegStreamStateCallback("watch", note, &one), ACL_SUCCESS);
  EXPECT_EQ(aclrtRegStreamStateCallback("second", note, &two), ACL_SUCCESS);
  const Stream stream;
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_TRUE((seen[0].args == &one && seen[1].args == &two) ||
              (seen[0].args == &two && seen[1].args == &one));
  EXPECT_EQ(aclrtRegStreamStateCallback("second", nullptr, nullptr), ACL_SUCCESS);
  seen.clear();
  const Stream another;
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].args, &one);
}

// Events of a context: its default stream comes and goes with it, and so do the streams made in it.
TEST_F(StreamStateCallback, R156_R118_ContextsIncludeTheirStreams) {
  EXPECT_EQ(aclrtRegStreamStateCallback("watch", note, nullptr), ACL_SUCCESS);
  const aclrtContext primary = current_context();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  aclrtStream const own = default_stream();
  expect_one(own, ACL_RT_STREAM_STATE_CREATE_POST);
  aclrtStream const made = new_stream();
  seen.clear();
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ASSERT_EQ(seen.size(), 2U);
  for (const Seen& one : seen) {
    EXPECT_TRUE(one.stream == own || one.stream == made);
    EXPECT_EQ(one.state, ACL_RT_STREAM_STATE_DESTROY_PRE);
    EXPECT_TRUE(one.alive);
  }
  EXPECT_NE(seen[0].stream, seen[1].stream);
  seen.clear();
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
}

TEST_F(StreamStateCallback, R156_R58_SettingAndResettingADeviceToo) {
  EXPECT_EQ(aclrtRegStreamStateCallback("watch", note, nullptr), ACL_SUCCESS);
  for (const bool force : {false, true}) {
    seen.clear();
    EXPECT_EQ(aclrtSetDevice(3), ACL_SUCCESS);
    aclrtStream const own = default_stream();
    expect_one(own, ACL_RT_STREAM_STATE_CREATE_POST);
    EXPECT_EQ(aclrtSetDevice(3), ACL_SUCCESS);
    EXPECT_EQ(seen.size(), 0U) << "the context is there";
    aclrtStream const made = new_stream();
    expect_one(made, ACL_RT_STREAM_STATE_CREATE_POST);
    if (!force) {
      EXPECT_EQ(aclrtResetDevice(3), ACL_SUCCESS);
      EXPECT_EQ(seen.size(), 0U) << "not yet";
    }
    EXPECT_EQ(force ? aclrtResetDeviceForce(3) : aclrtResetDevice(3), ACL_SUCCESS);
    ASSERT_EQ(seen.size(), 2U);
    for (const Seen& one : seen) {
      EXPECT_TRUE(one.stream == own || one.stream == made);
      EXPECT_EQ(one.state, ACL_RT_STREAM_STATE_DESTROY_PRE);
      EXPECT_TRUE(one.alive);
    }
  }
}

// Called without any lock: the callback may use the library.
TEST_F(StreamStateCallback, R156_R99_TheCallbackMayCallTheLibrary) {
  static int depth = 0, most = 0;
  depth = most = 0;
  EXPECT_EQ(aclrtRegStreamStateCallback(
                "watch",
                [](aclrtStream, aclrtStreamState, void*) {
                  most = std::max(most, ++depth);
                  if (depth < 3) {
                    aclrtStream inner = nullptr;
                    EXPECT_EQ(::aclrtCreateStream(&inner), ACL_SUCCESS);
                    EXPECT_EQ(aclrtDestroyStream(inner), ACL_SUCCESS);
                    EXPECT_EQ(aclrtRegStreamStateCallback("second", nullptr, nullptr), ACL_SUCCESS);
                  }
                  --depth;
                },
                nullptr),
            ACL_SUCCESS);
  { const Stream stream; }
  EXPECT_EQ(most, 3);
}

}  // namespace stream_state_callback_test
