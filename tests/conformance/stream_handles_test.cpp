// What may stand where a function takes a stream: streams of the current context, NULL for its default
// stream, and never anything else.
#include <pthread.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/fresh_process.h"
#include "support/gates.h"
#include "support/scratch.h"

namespace stream_handles_test {

using namespace belay_test;

void nothing(void*) {}
std::uint64_t this_thread() { return static_cast<std::uint64_t>(pthread_self()); }

enum class Sort { submits, destroys, looks, sets };

struct Taker {
  std::string name;
  Sort sort;
  bool takes_null;
  std::function<aclError(aclrtStream)> call;
};

// Everything that the calls need besides the stream, made so that each call succeeds on a good one.
class StreamHandles : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    block_ = std::make_unique<Device>(64 * kKB);
    pinned_ = std::make_unique<Pinned>(4096);
    event_ = std::make_unique<Event>();
    ASSERT_EQ(aclrtCreateNotify(&notify_, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemset(block_->get(), block_->size(), 0, block_->size()), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetMemcpyDesc(block_->get(8192), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, block_->get(),
                                 block_->get(4096), 64, nullptr),
              ACL_SUCCESS);
    event_->record(nullptr);
    ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyNotify(notify_), ACL_SUCCESS);
    event_.reset();
    pinned_.reset();
    block_.reset();
    OnDevice::TearDown();
  }

  std::vector<Taker> takers() {
    void* const to = block_->get();
    void* const host = pinned_->get();
    aclrtEvent const event = event_->get();
    aclrtNotify const notify = notify_;
    static std::int32_t number;
    static std::uint32_t word;
    static aclrtStreamStatus status;
    static aclrtStreamAttrValue value;
    value = {};
    return {
        {"aclrtMemcpyAsync", Sort::submits, true,
         [=](aclrtStream s) { return ::aclrtMemcpyAsync(to, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, s); }},
        {"aclrtMemcpy2dAsync", Sort::submits, true,
         [=](aclrtStream s) {
           return ::aclrtMemcpy2dAsync(to, 64, host, 64, 32, 2, ACL_MEMCPY_HOST_TO_DEVICE, s);
         }},
        {"aclrtMemcpyAsyncWithDesc", Sort::submits, false,
         [=](aclrtStream s) {
           return aclrtMemcpyAsyncWithDesc(at(to, 8192), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, s);
         }},
        {"aclrtMemsetAsync", Sort::submits, true,
         [=](aclrtStream s) { return ::aclrtMemsetAsync(to, 64, 0, 64, s); }},
        {"aclrtMemsetD32Async", Sort::submits, true,
         [=](aclrtStream s) { return aclrtMemsetD32Async(to, 64, 0, 16, s); }},
        {"aclrtValueWrite", Sort::submits, true, [=](aclrtStream s) { return aclrtValueWrite(to, 0, 0, s); }},
        {"aclrtValueWait", Sort::submits, true,
         [=](aclrtStream s) { return aclrtValueWait(at(to, 16 * kKB), 0, ACL_STREAM_WAIT_VALUE_EQ, s); }},
        {"aclrtGetOverflowStatus", Sort::submits, true,
         [=](aclrtStream s) { return aclrtGetOverflowStatus(to, 64, s); }},
        {"aclrtResetOverflowStatus", Sort::submits, true,
         [=](aclrtStream s) { return aclrtResetOverflowStatus(s); }},
        {"aclrtRecordEvent", Sort::submits, true, [=](aclrtStream s) { return aclrtRecordEvent(event, s); }},
        {"aclrtStreamWaitEvent", Sort::submits, true,
         [=](aclrtStream s) { return ::aclrtStreamWaitEvent(s, event); }},
        {"aclrtStreamWaitEventWithTimeout", Sort::submits, true,
         [=](aclrtStream s) { return aclrtStreamWaitEventWithTimeout(s, event, 100); }},
        {"aclrtRecordNotify", Sort::submits, true,
         [=](aclrtStream s) { return aclrtRecordNotify(notify, s); }},
        {"aclrtWaitAndResetNotify", Sort::submits, true,  // after the record above
         [=](aclrtStream s) { return aclrtWaitAndResetNotify(notify, s, 0); }},
        {"aclrtLaunchHostFunc", Sort::submits, true,
         [=](aclrtStream s) { return aclrtLaunchHostFunc(s, nothing, nullptr); }},
        {"aclrtDestroyStream", Sort::destroys, false, [](aclrtStream s) { return aclrtDestroyStream(s); }},
        {"aclrtDestroyStreamForce", Sort::destroys, false,
         [](aclrtStream s) { return aclrtDestroyStreamForce(s); }},
        {"aclrtSynchronizeStream", Sort::looks, true,
         [](aclrtStream s) { return ::aclrtSynchronizeStream(s); }},
        {"aclrtSynchronizeStreamWithTimeout", Sort::looks, true,
         [](aclrtStream s) { return aclrtSynchronizeStreamWithTimeout(s, 30000); }},
        {"aclrtStreamQuery", Sort::looks, true, [](aclrtStream s) { return aclrtStreamQuery(s, &status); }},
        {"aclrtStreamGetId", Sort::looks, true, [](aclrtStream s) { return aclrtStreamGetId(s, &number); }},
        {"aclrtStreamGetPriority", Sort::looks, true,
         [](aclrtStream s) { return aclrtStreamGetPriority(s, &word); }},
        {"aclrtStreamGetFlags", Sort::looks, true,
         [](aclrtStream s) { return aclrtStreamGetFlags(s, &word); }},
        {"aclrtGetStreamAttribute", Sort::looks, true,
         [](aclrtStream s) { return aclrtGetStreamAttribute(s, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value); }},
        {"aclrtGetStreamOverflowSwitch", Sort::looks, true,
         [](aclrtStream s) { return aclrtGetStreamOverflowSwitch(s, &word); }},
        {"aclrtGetStreamResLimit", Sort::looks, true,
         [](aclrtStream s) { return aclrtGetStreamResLimit(s, ACL_RT_DEV_RES_CUBE_CORE, &word); }},
        {"aclrtSetStreamAttribute", Sort::sets, true,
         [](aclrtStream s) { return aclrtSetStreamAttribute(s, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value); }},
        {"aclrtSetStreamFailureMode", Sort::sets, true,
         [](aclrtStream s) { return aclrtSetStreamFailureMode(s, ACL_CONTINUE_ON_FAILURE); }},
        {"aclrtSetStreamOverflowSwitch", Sort::sets, true,
         [](aclrtStream s) { return aclrtSetStreamOverflowSwitch(s, 0); }},
        {"aclrtSetStreamResLimit", Sort::sets, true,
         [](aclrtStream s) { return aclrtSetStreamResLimit(s, ACL_RT_DEV_RES_CUBE_CORE, 1); }},
        {"aclrtResetStreamResLimit", Sort::sets, true,
         [](aclrtStream s) { return aclrtResetStreamResLimit(s); }},
        {"aclrtUseStreamResInCurrentThread", Sort::sets, true,
         [](aclrtStream s) { return aclrtUseStreamResInCurrentThread(s); }},
        {"aclrtUnuseStreamResInCurrentThread", Sort::sets, true,
         [](aclrtStream s) { return aclrtUnuseStreamResInCurrentThread(s); }},
        {"aclrtStreamAbort", Sort::sets, true, [](aclrtStream s) { return aclrtStreamAbort(s); }},
        {"aclrtStreamStop", Sort::sets, false, [](aclrtStream s) { return aclrtStreamStop(s); }},
        {"aclrtSubscribeReport", Sort::sets, false,
         [](aclrtStream s) { return aclrtSubscribeReport(this_thread(), s); }},
        {"aclrtLaunchCallback", Sort::submits, false,
         [](aclrtStream s) { return aclrtLaunchCallback(nothing, nullptr, ACL_CALLBACK_NO_BLOCK, s); }},
        {"aclrtUnSubscribeReport", Sort::sets, false,
         [](aclrtStream s) { return aclrtUnSubscribeReport(this_thread(), s); }},
    };
  }

  std::unique_ptr<Device> block_;
  std::unique_ptr<Pinned> pinned_;
  std::unique_ptr<Event> event_;
  aclrtNotify notify_ = nullptr;
};

// The ground on which the other tests stand: with a good stream nothing is wrong with the arguments. The ways
// to call back do not mix on one stream (R-199), so each function has its own.
TEST_F(StreamHandles, R126_AllTakeAStreamOfTheirContext) {
  const Stream callbacks;
  ASSERT_EQ(aclrtSubscribeReport(this_thread(), callbacks.get()), ACL_SUCCESS);
  for (const Taker& taker : takers()) {
    SCOPED_TRACE(taker.name);
    if (taker.name == "aclrtUnSubscribeReport" || taker.name == "aclrtLaunchCallback") {
      EXPECT_EQ(taker.call(callbacks.get()), ACL_SUCCESS);
      continue;
    }
    Stream stream;
    EXPECT_EQ(taker.call(stream.get()), ACL_SUCCESS);
    if (taker.sort == Sort::destroys) {
      stream.forget();
    } else {
      EXPECT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
    }
  }
}

TEST_F(StreamHandles, R10_M4_WhatIsNoStreamIsNeverTouched) {
  Device device_block(64);
  std::array<std::uint64_t, 64> plain{};
  Stream live;
  const std::vector<std::pair<std::string, void*>> handles = {
      {"destroyed", stale_stream()},
      {"event", event_->get()},
      {"notify", notify_},
      {"context", current_context()},
      {"host memory", plain.data()},
      {"pinned memory", pinned_->get()},
      {"device memory", device_block.get()},
      {"one", reinterpret_cast<void*>(std::uintptr_t{1})},
      {"a small number", reinterpret_cast<void*>(std::uintptr_t{0x1000})},
      {"the last address", reinterpret_cast<void*>(~std::uintptr_t{0})},
      {"no canonical address", reinterpret_cast<void*>(std::uintptr_t{0xDEADBEEFDEADBEEF})},
      {"beside a stream", at(live.get(), 1)},
      {"before a stream", reinterpret_cast<void*>(number(live.get()) - 8)},
      {"code", reinterpret_cast<void*>(&nothing)},
  };
  last_error();
  for (const Taker& taker : takers()) {
    for (const auto& [what, handle] : handles) {
      EXPECT_EQ(taker.call(handle), kStale) << taker.name << " with " << what;
      EXPECT_EQ(last_error(), kStale) << taker.name << " with " << what;
    }
    const std::string message = recent_message();
    EXPECT_TRUE(mentions(message, "EE1017")) << taker.name;
    EXPECT_TRUE(mentions(message, taker.name)) << message;
  }
}

TEST_F(StreamHandles, R118_M4_StreamsOfADestroyedContextAreGone) {
  aclrtStream own = nullptr, made = nullptr;
  {
    const OwnContext context;
    own = default_stream();
    made = new_stream();
  }
  for (const Taker& taker : takers()) {
    EXPECT_EQ(taker.call(own), kStale) << taker.name;
    EXPECT_EQ(taker.call(made), kStale) << taker.name;
  }
}

TEST_F(StreamHandles, R12_M4_WorkGoesToTheStreamsOfTheCurrentContextOnly) {
  const aclrtContext primary = current_context();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  aclrtStream const own = default_stream();
  aclrtStream const made = new_stream();
  aclrtStream const subscribed = new_stream();
  EXPECT_EQ(aclrtSubscribeReport(this_thread(), subscribed), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  for (const Taker& taker : takers()) {
    SCOPED_TRACE(taker.name);
    last_error();
    if (taker.sort == Sort::looks) {
      EXPECT_EQ(taker.call(made), ACL_SUCCESS);
      EXPECT_EQ(taker.call(own), ACL_SUCCESS);
      EXPECT_EQ(last_error(), ACL_SUCCESS);
    }
    if (taker.sort == Sort::submits || taker.sort == Sort::destroys) {
      aclrtStream const stream = taker.name == "aclrtLaunchCallback" ? subscribed : made;
      EXPECT_EQ(taker.call(stream), kOtherContext);
      EXPECT_EQ(last_error(), kOtherContext);
      const std::string message = recent_message();
      EXPECT_TRUE(mentions(message, "EE1010")) << message;
      EXPECT_TRUE(mentions(message, taker.name)) << message;
    }
  }
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
}

TEST_F(StreamHandles, R12_R11_WithoutAContextNothingIsQueued) {
  const Stream stream, subscribed;
  EXPECT_EQ(aclrtSubscribeReport(this_thread(), subscribed.get()), ACL_SUCCESS);
  const std::vector<Taker> all = takers();
  without_context([&] {
    for (const Taker& taker : all) {
      SCOPED_TRACE(taker.name);
      if (taker.sort != Sort::submits && taker.sort != Sort::destroys) continue;
      last_error();
      EXPECT_EQ(taker.call(taker.name == "aclrtLaunchCallback" ? subscribed.get() : stream.get()),
                kNoContext);
      EXPECT_EQ(last_error(), kNoContext);
    }
  });
  EXPECT_EQ(status_of(stream.get()), ACL_STREAM_STATUS_COMPLETE) << "nothing was queued";
}

TEST_F(StreamHandles, R13_NullIsTheDefaultStreamOfTheCurrentContext) {
  const std::int32_t primary = id_of(default_stream());
  EXPECT_EQ(id_of(nullptr), primary);
  {
    const OwnContext context;
    EXPECT_EQ(id_of(nullptr), id_of(default_stream()));
    EXPECT_NE(id_of(nullptr), primary);
  }
  EXPECT_EQ(id_of(nullptr), primary);
  without_context([] {
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
  });
}

// A task queued with NULL stays in the stream that NULL meant then.
TEST_F(StreamHandles, R13_NullIsResolvedWhenTheCallIsMade) {
  const Marks marks;
  const WordGate gate;
  const aclrtContext primary = current_context();
  gate.hold(nullptr);
  marks.queue(nullptr, 0);
  {
    const OwnContext context;
    marks.queue(nullptr, 1);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << "not the stream that is held";
    EXPECT_TRUE(marks.set(1));
    EXPECT_FALSE(marks.set(0));
    EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
    EXPECT_EQ(status_of(nullptr), ACL_STREAM_STATUS_NOT_READY);
  }
  gate.open();
  EXPECT_EQ(aclrtSynchronizeStream(default_stream()), ACL_SUCCESS);
  EXPECT_TRUE(marks.set(0));
}

// A thread without a context gets the default device, where one was configured.
TEST(StreamOfTheDefaultDevice, R30_M3_R13_NullWorksWithoutSettingADevice) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", R"({"defaultDevice": {"default_device": "1"}})");
  in_fresh_process([&] {
    ASSERT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
    const auto on_fresh_thread = [](const std::function<aclError()>& call) {
      aclError answer = -1;
      without_context([&] { answer = call(); });
      return answer;
    };
    aclrtStream stream = nullptr;
    EXPECT_EQ(on_fresh_thread([] { return ::aclrtSynchronizeStream(nullptr); }), ACL_SUCCESS);
    EXPECT_EQ(on_fresh_thread([] { return ::aclrtSynchronizeDevice(); }), ACL_SUCCESS);
    EXPECT_EQ(on_fresh_thread([&] { return ::aclrtCreateStream(&stream); }), ACL_SUCCESS);
    EXPECT_EQ(on_fresh_thread([&] { return aclrtLaunchHostFunc(stream, nothing, nullptr); }), ACL_SUCCESS);
    EXPECT_EQ(on_fresh_thread([] { return aclrtLaunchHostFunc(nullptr, nothing, nullptr); }), ACL_SUCCESS);
    EXPECT_EQ(on_fresh_thread([] { return aclrtStreamAbort(nullptr); }), ACL_SUCCESS);
    EXPECT_EQ(on_fresh_thread([&] { return aclrtDestroyStream(stream); }), ACL_SUCCESS);
    std::int32_t device = -1;
    EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
    EXPECT_EQ(device, 1);
  });
}

TEST_F(StreamHandles, R13_AllThatTakeNullTakeIt) {
  for (const Taker& taker : takers()) {
    if (!taker.takes_null) continue;
    EXPECT_EQ(taker.call(nullptr), ACL_SUCCESS) << taker.name;
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << taker.name;
  }
}

}  // namespace stream_handles_test
