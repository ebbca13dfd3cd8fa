// Waiting for a whole device, and freeing after that.
#include <climits>
#include <cstdint>
#include <memory>
#include <vector>

#include "support/gates.h"
#include "support/worker.h"

namespace device_sync_test {

using namespace belay_test;

class DeviceSync : public OnDevice {};

aclError sync_for_ever() { return ::aclrtSynchronizeDevice(); }
aclError sync_minus_one() { return aclrtSynchronizeDeviceWithTimeout(-1); }
aclError sync_a_minute() { return aclrtSynchronizeDeviceWithTimeout(60000); }
constexpr aclError (*kWays[])() = {sync_for_ever, sync_minus_one, sync_a_minute};

// Streams of the current context, of another one, of another thread, and both default streams.
TEST_F(DeviceSync, R70_WaitsForEveryStreamOfTheProcessOnTheDevice) {
  for (const auto sync : kWays) {
    const Marks marks;
    const WordGate gate;
    std::size_t count = 0;
    const auto use = [&](aclrtStream stream) {
      gate.hold(stream);
      marks.queue(stream, count++);
    };
    const Stream here;
    use(here.get());
    use(nullptr);
    aclrtContext context = nullptr, none = nullptr;
    const aclrtContext primary = current_context();
    ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
    use(new_stream());
    use(nullptr);
    ASSERT_EQ(aclrtCreateContext(&none, 0), ACL_SUCCESS);  // where nothing is queued
    on_new_thread([&] {
      EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      use(new_stream());
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      use(new_stream());
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
    for (const aclrtContext current : {primary, none}) {
      EXPECT_EQ(aclrtSetCurrentContext(current), ACL_SUCCESS);
      if (current == primary) {
        EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(20), kStreamTimeout);
        for (std::size_t i = 0; i < count; ++i) EXPECT_FALSE(marks.set(i)) << i;
        continue;
      }
      const OpensLater later(gate);
      EXPECT_EQ(sync(), ACL_SUCCESS);
      for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(marks.set(i)) << i;
    }
    EXPECT_EQ(aclrtDestroyContext(none), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  }
}

TEST_F(DeviceSync, R70_ButNotForAnotherDevice) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  {
    const Marks marks;
    const WordGate gate;
    const Stream elsewhere;
    gate.hold(elsewhere.get());
    marks.queue(elsewhere.get());
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    for (const auto sync : kWays) EXPECT_EQ(sync(), ACL_SUCCESS);
    EXPECT_FALSE(marks.set());
    EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(5), kStreamTimeout);
    gate.open();
    EXPECT_EQ(sync_for_ever(), ACL_SUCCESS);
    EXPECT_TRUE(marks.set());
  }
  EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

TEST_F(DeviceSync, R71_TheSpecialKindsAreSkipped) {
  const Marks marks;
  const WordGate never;
  const Stream persistent(ACL_STREAM_PERSISTENT), reserved(ACL_STREAM_CPU_SCHEDULE),
      on_device(ACL_STREAM_DEVICE_USE_ONLY), ordinary;
  for (aclrtStream stream : {persistent.get(), reserved.get()}) {
    never.hold(stream);
    marks.queue(stream, 1);
  }
  marks.queue(ordinary.get(), 0);
  for (const auto sync : kWays) EXPECT_EQ(sync(), ACL_SUCCESS);
  EXPECT_TRUE(marks.set(0)) << "the others are waited for";
  EXPECT_FALSE(marks.set(1));
  never.open();
}

TEST_F(DeviceSync, R72_Times) {
  for (const std::int32_t timeout : {0, -2, -3, INT_MIN}) {
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(timeout), kBadValue) << timeout;
    EXPECT_EQ(recent_message().empty(), false);
  }
  last_error();
  for (const std::int32_t timeout : {-2, INT_MIN})
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(timeout), kBadValue);
  EXPECT_EQ(last_error(), ACL_SUCCESS) << "caught at the door (R-20)";
  for (const std::int32_t timeout : {-1, 1, 2, INT_MAX})
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(timeout), ACL_SUCCESS) << timeout;
  without_context([] {
    EXPECT_EQ(sync_for_ever(), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    EXPECT_EQ(sync_minus_one(), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(-2), kBadValue);
  });
}

TEST_F(DeviceSync, R72_WhenTheTimeIsOverTheWorkGoesOn) {
  const Marks marks;
  const WordGate gate;
  const Stream stream;
  gate.hold(stream.get());
  marks.queue(stream.get());
  for (const std::int32_t timeout : {1, 30}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(timeout), kStreamTimeout);
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{timeout});
    EXPECT_EQ(last_error(), kStreamTimeout);
  }
  EXPECT_FALSE(marks.set());
  gate.open();
  EXPECT_EQ(sync_a_minute(), ACL_SUCCESS);
  EXPECT_TRUE(marks.set());
}

// The failed ones come first, the one that is still at work last: it is waited for nevertheless.
TEST_F(DeviceSync, R73_AnErrorIsToldAfterAllHaveBeenWaitedFor) {
  const Failing failing;
  const Marks marks;
  const WordGate gate;
  const Stream failed, held, failed_too;
  failing.queue(failed.get());
  failing.queue(failed_too.get());
  gate.hold(held.get());
  marks.queue(held.get());
  {
    const OpensLater later(gate);
    EXPECT_EQ(sync_for_ever(), kRefused);
    EXPECT_TRUE(marks.set());
  }
  EXPECT_EQ(last_error(), kRefused);
  // Each stream tells its error once.
  int told = 1;
  for (int i = 0; i < 3; ++i) told += sync_for_ever() == kRefused ? 1 : 0;
  EXPECT_EQ(told, 2);
  EXPECT_EQ(sync_for_ever(), ACL_SUCCESS);
}

TEST_F(DeviceSync, R73_R72_TimeBeforeError) {
  const Failing failing;
  const WordGate gate;
  const Stream failed, held;
  failing.queue(failed.get());
  gate.hold(held.get());
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(30), kStreamTimeout) << "not all have been waited for";
  gate.open();
  EXPECT_EQ(sync_for_ever(), kRefused) << "so the error is still to be told";
  EXPECT_EQ(sync_for_ever(), ACL_SUCCESS);
}

TEST_F(DeviceSync, M122_M124_FreeingWaitsForTheDevice) {
  const Marks marks;
  const Stream stream;
  {
    HostGate gate;
    Device block(64);
    gate.hold(stream.get());
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 1, 64, stream.get()), ACL_SUCCESS);
    marks.queue(stream.get(), 0);
    const OpensLater later(gate);
    EXPECT_EQ(aclrtFreeWithDevSync(block.get()), ACL_SUCCESS);
    EXPECT_TRUE(marks.set(0)) << "freed after all was done";
    EXPECT_FALSE(alive(block.get()));
    block.forget();
  }
  {
    HostGate gate;
    Pinned block(64);
    gate.hold(stream.get());
    marks.queue(stream.get(), 1);
    const OpensLater later(gate);
    EXPECT_EQ(aclrtFreeHostWithDevSync(block.get()), ACL_SUCCESS);
    EXPECT_TRUE(marks.set(1));
    EXPECT_EQ(aclrtFreeHost(block.get()), kBadValue) << "it is gone";
    block.forget();
  }
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS) << "the work used live memory";
}

TEST_F(DeviceSync, M122_AnErrorOfTheDeviceIsToldAndNothingFreed) {
  const Failing failing;
  const Stream stream;
  Device block(64);
  const std::size_t free_before = free_bytes();
  failing.queue(stream.get());
  EXPECT_EQ(aclrtFreeWithDevSync(block.get()), kRefused);
  EXPECT_EQ(last_error(), kRefused);
  EXPECT_TRUE(alive(block.get()));
  EXPECT_EQ(free_bytes(), free_before);
  EXPECT_EQ(aclrtFreeWithDevSync(block.get()), ACL_SUCCESS) << "the error was told once";
  EXPECT_FALSE(alive(block.get()));
  block.forget();
}

TEST_F(DeviceSync, M192_SoItIsWithPinnedMemory) {
  const Failing failing;
  const Stream stream;
  Pinned block(4096);
  EXPECT_EQ(aclrtFreeHostWithDevSync(nullptr), kBadArgument);
  without_context([&] {
    EXPECT_EQ(aclrtFreeHostWithDevSync(block.get()), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
  });
  failing.queue(stream.get());
  EXPECT_EQ(aclrtFreeHostWithDevSync(block.get()), kRefused);
  EXPECT_EQ(last_error(), kRefused);
  write_to(block.get(), pattern(4096));
  EXPECT_EQ(aclrtFreeHostWithDevSync(block.get()), ACL_SUCCESS) << "it was still there";
  block.forget();
}

// With a stream that a callback holds up, and too little memory: nobody waits.
TEST_F(DeviceSync, M429_M90_AllocatingNeverWaitsForAStream) {
  HostGate gate;
  const Stream stream;
  gate.hold_and_enter(stream.get());
  constexpr std::size_t kTooMuch = std::size_t{1} << 46U;
  void* block = nullptr;
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(aclrtMalloc(&block, kTooMuch, ACL_MEM_MALLOC_HUGE_FIRST), kShortage);
    EXPECT_EQ(::aclrtMallocAlign32(&block, kTooMuch, ACL_MEM_MALLOC_NORMAL_ONLY), kShortage);
    EXPECT_EQ(::aclrtMallocHost(&block, kTooMuch), kShortage);
  }
  // The same when all that there is has been taken.
  std::vector<void*> all;
  while (aclrtMalloc(&block, 8 * kGB, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS) all.push_back(block);
  EXPECT_GT(all.size(), 1U);
  EXPECT_EQ(aclrtMalloc(&block, 8 * kGB, ACL_MEM_MALLOC_HUGE_ONLY), kShortage);
  EXPECT_EQ(::aclrtMallocAlign32(&block, 8 * kGB, ACL_MEM_MALLOC_HUGE_FIRST), kShortage);
  for (void* one : all) EXPECT_EQ(aclrtFree(one), ACL_SUCCESS);
  EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(::aclrtMallocHost(&block, 64), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(block), ACL_SUCCESS);
  EXPECT_FALSE(gate.left()) << "all that happened while the stream was held";
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
}

}  // namespace device_sync_test
