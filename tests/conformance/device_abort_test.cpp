// Dropping all the work of a device, and what is refused meanwhile.
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/gates.h"
#include "support/worker.h"

namespace device_abort_test {

using namespace belay_test;

class DeviceAbort : public OnDevice {
 protected:
  void TearDown() override {
    for (const char* name : {"one", "two"}) (void)aclrtSetDeviceTaskAbortCallback(name, nullptr, nullptr);
    OnDevice::TearDown();
  }
};

constexpr std::uint32_t kLongest = 36 * 60 * 1000;

TEST_F(DeviceAbort, R230_Arguments) {
  EXPECT_EQ(aclrtDeviceTaskAbort(0, kLongest + 1), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 0xFFFFFFFF), kBadValue);
  for (const std::uint32_t timeout : {0U, 1U, 1000U, kLongest - 1, kLongest})
    EXPECT_EQ(aclrtDeviceTaskAbort(0, timeout), ACL_SUCCESS) << timeout;
  for (const std::int32_t device : {-1, 8, 9, 64, 1000}) {
    EXPECT_EQ(aclrtDeviceTaskAbort(device, 1000), kBadDevice) << device;
    EXPECT_EQ(last_error(), kBadDevice);
  }
  without_context([] { EXPECT_EQ(aclrtDeviceTaskAbort(0, 1000), ACL_SUCCESS) << "no context is needed"; });
}

TEST_F(DeviceAbort, R230_AllThatIsQueuedOnTheDeviceIsDropped) {
  const Marks marks;
  const WordGate never;
  const Stream one, two;
  const aclrtContext primary = current_context();
  const OwnContext context;
  const Stream theirs;
  std::size_t which = 0;
  const auto use = [&](aclrtStream stream) {
    never.hold(stream);
    marks.queue(stream, which++);
  };
  use(theirs.get());
  use(nullptr);
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  use(one.get());
  use(two.get());
  use(nullptr);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 60000), ACL_SUCCESS);
  for (aclrtStream stream : {theirs.get(), one.get(), two.get(), aclrtStream{nullptr}})
    EXPECT_EQ(status_of(stream), ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
  for (std::size_t i = 0; i < which; ++i) EXPECT_FALSE(marks.set(i)) << i;
  // All are usable again.
  marks.queue(one.get(), 0);
  marks.queue(nullptr, 1);
  EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_TRUE(marks.set(0));
  EXPECT_TRUE(marks.set(1));
  context.enter();
}

TEST_F(DeviceAbort, R230_AnotherDeviceKeepsItsOwn) {
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  {
    const Marks marks;
    const WordGate gate;
    const Stream stream;
    gate.hold(stream.get());
    marks.queue(stream.get());
    EXPECT_EQ(aclrtDeviceTaskAbort(0, 1000), ACL_SUCCESS);
    EXPECT_EQ(status_of(stream.get()), ACL_STREAM_STATUS_NOT_READY);
    gate.open();
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
    EXPECT_TRUE(marks.set());
  }
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
}

struct Call {
  std::int32_t device;
  aclrtDeviceTaskAbortStage stage;
  std::uint32_t timeout;
  void* args;
};
std::vector<Call> calls;
std::int32_t note(std::int32_t device, aclrtDeviceTaskAbortStage stage, std::uint32_t timeout, void* args) {
  calls.push_back({device, stage, timeout, args});
  return 0;
}

TEST_F(DeviceAbort, R230_CallbacksBeforeAndAfter) {
  calls.clear();
  int first = 0, second = 0;
  EXPECT_EQ(aclrtSetDeviceTaskAbortCallback(nullptr, note, &first), kBadArgument);
  EXPECT_EQ(aclrtSetDeviceTaskAbortCallback(nullptr, nullptr, nullptr), kBadArgument);
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("one", note, &first), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 1234), ACL_SUCCESS);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].stage, ACL_RT_DEVICE_TASK_ABORT_PRE);
  EXPECT_EQ(calls[1].stage, ACL_RT_DEVICE_TASK_ABORT_POST);
  for (const Call& call : calls) {
    EXPECT_EQ(call.device, 0);
    EXPECT_EQ(call.args, &first);
    EXPECT_LE(call.timeout, 1234U);
  }
  EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("two", note, &second), ACL_SUCCESS);
  calls.clear();
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 0), ACL_SUCCESS);
  ASSERT_EQ(calls.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_EQ(calls[i].stage, i < 2 ? ACL_RT_DEVICE_TASK_ABORT_PRE : ACL_RT_DEVICE_TASK_ABORT_POST);
  calls.clear();
  EXPECT_EQ(aclrtDeviceTaskAbort(99, 0), kBadDevice);
  EXPECT_EQ(calls.size(), 0U) << "nothing was aborted";
}

// Runs a body while device 0 is being aborted.
std::function<void()> during;
std::int32_t in_between(std::int32_t device, aclrtDeviceTaskAbortStage stage, std::uint32_t, void*) {
  if (device == 0 && stage == ACL_RT_DEVICE_TASK_ABORT_PRE && during) during();
  return 0;
}
void while_aborting(const std::function<void()>& body) {
  int ran = 0;
  during = [&] {
    body();
    on_new_thread([&] {  // another thread finds the same
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      body();
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
    ++ran;
  };
  EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("one", in_between, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 60000), ACL_SUCCESS);
  EXPECT_EQ(ran, 1);
  during = nullptr;
}

TEST_F(DeviceAbort, M9_M237_CopiesAreRefusedMeanwhile) {
  Device block(64);
  write_to(block.get(), Bytes(64, 1));
  Bytes bytes(64, 2);
  while_aborting([&] {
    last_error();
    EXPECT_EQ(aclrtMemcpy(block.get(), 64, bytes.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kDeviceAborting);
    EXPECT_EQ(last_error(), kDeviceAborting);
    EXPECT_EQ(aclrtMemcpy(bytes.data(), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST), kDeviceAborting);
    // What comes before it in the order of checks keeps its answer.
    EXPECT_EQ(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemcpy(nullptr, 64, bytes.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kBadArgument);
    EXPECT_EQ(aclrtMemcpy(block.get(), 63, bytes.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kBadValue);
    EXPECT_EQ(aclrtMemcpy(block.get(), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_DEVICE), ACL_SUCCESS);
    without_context([&] {
      EXPECT_EQ(aclrtMemcpy(block.get(), 64, bytes.data(), 64, ACL_MEMCPY_HOST_TO_DEVICE), kNoContext);
    });
  });
  EXPECT_EQ(bytes, Bytes(64, 2));
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 1)) << "afterwards it works";
  write_to(block.get(), bytes);
  EXPECT_EQ(read_from(block.get(), 64), bytes);
}

TEST_F(DeviceAbort, M9_M369_FillsAreRefusedMeanwhile) {
  Device block(64);
  write_to(block.get(), Bytes(64, 1));
  while_aborting([&] {
    last_error();
    EXPECT_EQ(aclrtMemset(block.get(), 64, 7, 64), kDeviceAborting);
    EXPECT_EQ(last_error(), kDeviceAborting);
    EXPECT_EQ(aclrtMemset(block.get(), 63, 7, 64), kDeviceAborting) << "before the sizes";
    EXPECT_EQ(aclrtMemset(nullptr, 64, 7, 0), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(nullptr, 64, 7, 64), kBadArgument);
    without_context([&] { EXPECT_EQ(aclrtMemset(block.get(), 64, 7, 64), kNoContext); });
  });
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 1));
  EXPECT_EQ(aclrtMemset(block.get(), 64, 7, 64), ACL_SUCCESS);
}

TEST_F(DeviceAbort, M9_M128_FlushingIsRefusedMeanwhile_InvalidatingIsNot) {
  Device block(64);
  while_aborting([&] {
    last_error();
    EXPECT_EQ(aclrtMemFlush(block.get(), 64), kDeviceAborting);
    EXPECT_EQ(last_error(), kDeviceAborting);
    EXPECT_EQ(aclrtMemFlush(nullptr, 64), kBadArgument);
    EXPECT_EQ(aclrtMemFlush(block.get(), 0), kBadArgument);
    without_context([&] { EXPECT_EQ(aclrtMemFlush(block.get(), 64), kNoContext); });
    EXPECT_EQ(aclrtMemInvalidate(block.get(), 64), ACL_SUCCESS);
  });
  EXPECT_EQ(aclrtMemFlush(block.get(), 64), ACL_SUCCESS);
}

TEST_F(DeviceAbort, R230_SubmissionsAreRefusedMeanwhile) {
  Device block(64);
  const Stream stream;
  while_aborting([&] {
    last_error();
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 7, 64, stream.get()), kDeviceAborting);
    EXPECT_EQ(last_error(), kDeviceAborting);
  });
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 7, 64, stream.get()), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
}

TEST_F(DeviceAbort, R230_OneAbortAtATime) {
  while_aborting([] {
    last_error();
    EXPECT_EQ(aclrtDeviceTaskAbort(0, 1000), kDeviceAborting);
    EXPECT_EQ(last_error(), kDeviceAborting);
    EXPECT_EQ(aclrtDeviceTaskAbort(1, 1000), ACL_SUCCESS) << "another device may be aborted";
  });
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 1000), ACL_SUCCESS) << "afterwards again";
}

TEST_F(DeviceAbort, M9_AnotherDeviceIsNotConcerned) {
  while_aborting([] {
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    {
      Device block(64);
      write_to(block.get(), Bytes(64, 1));
      EXPECT_EQ(aclrtMemset(block.get(), 64, 7, 64), ACL_SUCCESS);
      EXPECT_EQ(aclrtMemFlush(block.get(), 64), ACL_SUCCESS);
      const Marks marks;
      marks.queue(nullptr);
      EXPECT_EQ(::aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
      EXPECT_TRUE(marks.set());
    }
    EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
}

TEST_F(DeviceAbort, R230_WhoWaitsComesBack) {
  const Stream stream;
  EXPECT_TRUE(with_growing_delay([&](std::chrono::milliseconds delay) {
    const WordGate never;
    never.hold(stream.get());
    Waiting waiting([&] { return ::aclrtSynchronizeStream(stream.get()); });
    let_time_pass(delay);
    EXPECT_FALSE(waiting.back());
    EXPECT_EQ(aclrtDeviceTaskAbort(0, 60000), ACL_SUCCESS);
    return waiting.fetch() != ACL_SUCCESS;  // what was waited for was not done
  }));
}

}  // namespace device_abort_test
