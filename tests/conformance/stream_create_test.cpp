// Making streams: arguments, priorities, flags, and the special kinds.
#include <cstdint>
#include <string>
#include <vector>

#include "support/events.h"
#include "support/streams.h"
#include "support/worker.h"

namespace stream_create_test {

using namespace belay_test;

class StreamCreate : public OnDevice {};

std::uint32_t priority_of(aclrtStream stream) {
  std::uint32_t priority = 7777;
  EXPECT_EQ(aclrtStreamGetPriority(stream, &priority), ACL_SUCCESS);
  return priority;
}

std::uint32_t flags_of(aclrtStream stream) {
  std::uint32_t flags = 7777;
  EXPECT_EQ(aclrtStreamGetFlags(stream, &flags), ACL_SUCCESS);
  return flags;
}

void expect_works(aclrtStream stream) {
  const Marks marks;
  marks.queue(stream);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_TRUE(marks.set());
}

TEST_F(StreamCreate, R126_R9_TheHandleMustBeStoredSomewhere) {
  EXPECT_EQ(::aclrtCreateStream(nullptr), kBadArgument);
  EXPECT_EQ(aclrtCreateStreamWithConfig(nullptr, 0, 0), kBadArgument);
  EXPECT_EQ(aclrtCreateStreamWithConfig(nullptr, 0, ACL_STREAM_DEVICE_USE_ONLY | ACL_STREAM_HUGE),
            kBadArgument)
      << "before the flags";
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_TRUE(mentions(recent_message(), "aclrtCreateStream"));
}

TEST_F(StreamCreate, R126_R19_AContextIsNeeded) {
  without_context([] {
    aclrtStream stream = sentinel();
    EXPECT_EQ(::aclrtCreateStream(&stream), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 3, ACL_STREAM_FAST_SYNC), kNoContext);
    EXPECT_EQ(last_error(), kNoContext);
    EXPECT_EQ(stream, sentinel());
    EXPECT_EQ(::aclrtCreateStream(nullptr), kBadArgument) << "the pointer is looked at first";
    EXPECT_TRUE(mentions(recent_message(), "EE1018"));
  });
}

TEST_F(StreamCreate, R126_PriorityZeroAndNoFlags) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(::aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_NE(stream, nullptr);
  EXPECT_EQ(priority_of(stream), 0U);
  EXPECT_EQ(flags_of(stream), 0U);
  expect_works(stream);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(StreamCreate, R126_R12_TheStreamBelongsToTheContextItWasMadeIn) {
  const Marks marks;
  const aclrtContext primary = current_context();
  const OwnContext context;
  const Stream stream;
  marks.queue(stream.get());
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  EXPECT_EQ(marks.try_queue(stream.get()), kOtherContext);
  EXPECT_EQ(last_error(), kOtherContext);
  on_new_thread([&] {
    EXPECT_EQ(aclrtSetCurrentContext(context.get()), ACL_SUCCESS);
    EXPECT_EQ(marks.try_queue(stream.get()), ACL_SUCCESS) << "any thread in that context may use it";
  });
  context.enter();
  EXPECT_EQ(aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
}

TEST_F(StreamCreate, R126_EachHandleIsAnother) {
  std::vector<aclrtStream> all = {default_stream()};
  for (int i = 0; i < 100; ++i) all.push_back(new_stream());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_NE(all[i], nullptr);
    for (std::size_t other = 0; other < i; ++other) EXPECT_NE(all[i], all[other]);
  }
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(aclrtDestroyStream(all[i]), ACL_SUCCESS);
}

TEST_F(StreamCreate, R127_PrioritiesAreCutOffAtSeven) {
  for (const std::uint32_t asked :
       {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 9U, 100U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU}) {
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, asked, 0), ACL_SUCCESS) << asked;
    EXPECT_EQ(priority_of(stream), asked < 7 ? asked : 7U) << asked;
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  }
}

constexpr std::uint32_t kSpecial =
    ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

TEST_F(StreamCreate, R128_R129_R147_EveryCombinationOfFlags) {
  for (std::uint32_t flags = 0; flags < 0x40; ++flags) {
    SCOPED_TRACE(flags);
    aclrtStream stream = sentinel();
    const aclError answer = aclrtCreateStreamWithConfig(&stream, 0, flags);
    if ((flags & ACL_STREAM_DEVICE_USE_ONLY) != 0 && flags != ACL_STREAM_DEVICE_USE_ONLY) {
      EXPECT_EQ(answer, kBadValue);
      EXPECT_EQ(last_error(), kBadValue);
      EXPECT_EQ(stream, sentinel());
      continue;
    }
    ASSERT_EQ(answer, ACL_SUCCESS);
    EXPECT_EQ(flags_of(stream), flags);
    EXPECT_EQ(priority_of(stream), 0U);
    if ((flags & kSpecial) == 0) expect_works(stream);
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  }
}

TEST_F(StreamCreate, R128_UnknownBitsAreIgnored) {
  for (const std::uint32_t bits : {0x40U, 0x80U, 0x100U, 0x40000000U, 0x80000000U, 0xFFFFFFC0U}) {
    SCOPED_TRACE(bits);
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 0, bits), ACL_SUCCESS);
    EXPECT_EQ(flags_of(stream), 0U);
    expect_works(stream);
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 0, bits | ACL_STREAM_FAST_LAUNCH), ACL_SUCCESS);
    EXPECT_EQ(flags_of(stream), ACL_STREAM_FAST_LAUNCH) << "the known ones count";
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  }
}

// Whatever might make a task run happens; then it must still not have run.
TEST_F(StreamCreate, R130_R142_TasksOfAPersistentStreamDoNotRun) {
  const Marks marks;
  Pinned pinned(64);
  Device source(64);
  write_to(source.get(), pattern(64));
  EXPECT_EQ(aclrtMemset(pinned.get(), 64, 0, 64), ACL_SUCCESS);
  for (const std::uint32_t flags :
       {ACL_STREAM_PERSISTENT, ACL_STREAM_PERSISTENT | ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC}) {
    const Stream kept(flags);
    marks.queue(kept.get());
    EXPECT_EQ(aclrtMemcpyAsync(pinned.get(), 64, source.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST, kept.get()),
              ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(kept.get()), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(kept.get(), 1), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    const Stream other;
    expect_works(other.get());
    let_time_pass(50ms);  // in which nothing must happen
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    EXPECT_FALSE(marks.set());
    EXPECT_EQ(*at(pinned.get(), 0), 0);
  }
  EXPECT_FALSE(marks.set()) << "nor when the stream is destroyed";
  EXPECT_EQ(*at(pinned.get(), 0), 0);
}

void nothing(void*) {}

TEST_F(StreamCreate, R130_ADeviceUseOnlyStreamTakesNoWorkOfTheHost) {
  const Stream stream(ACL_STREAM_DEVICE_USE_ONLY);
  const Event event;
  const Stream other;
  event.record(other.get());
  EXPECT_EQ(aclrtSynchronizeStream(other.get()), ACL_SUCCESS);
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  Device block(4096);
  write_to(block.get(), Bytes(4096, 0));
  Pinned pinned(64);
  aclrtStream const handle = stream.get();

  EXPECT_EQ(aclrtMemsetAsync(block.get(), 64, 1, 64, handle), kBadValue);
  EXPECT_EQ(last_error(), kBadValue);
  EXPECT_EQ(aclrtMemsetD32Async(block.get(), 64, 1, 16, handle), kBadValue);
  EXPECT_EQ(aclrtMemcpyAsync(block.get(), 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, handle),
            kBadValue);
  EXPECT_EQ(aclrtMemcpyAsync(block.get(), 64, block.get(64), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, handle),
            kBadValue);
  EXPECT_EQ(aclrtValueWrite(block.get(), 1, 0, handle), kBadValue);
  EXPECT_EQ(aclrtValueWait(block.get(), 0, ACL_STREAM_WAIT_VALUE_EQ, handle), kBadValue);
  EXPECT_EQ(aclrtRecordEvent(event.get(), handle), kBadValue);
  EXPECT_EQ(::aclrtStreamWaitEvent(handle, event.get()), kBadValue);
  EXPECT_EQ(aclrtRecordNotify(notify, handle), kBadValue);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, handle, 0), kBadValue);
  EXPECT_EQ(aclrtLaunchHostFunc(handle, nothing, nullptr), kBadValue);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0));

  EXPECT_EQ(aclrtSynchronizeStream(handle), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(StreamCreate, R130_TheReservedKindIsMade) {
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_CPU_SCHEDULE), ACL_SUCCESS);
  EXPECT_EQ(flags_of(stream), ACL_STREAM_CPU_SCHEDULE);
  EXPECT_GE(id_of(stream), 0);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(StreamCreate, R157_R20_WhatNeedsModelsIsRefused) {
  const Stream one, two;
  std::uint64_t left = 0, right = 0;
  EXPECT_EQ(aclrtPersistentTaskClean(one.get()), kUnsupported);
  EXPECT_EQ(aclrtPersistentTaskClean(nullptr), kUnsupported);
  EXPECT_EQ(aclrtActiveStream(one.get(), two.get()), kUnsupported);
  EXPECT_EQ(aclrtActiveStream(nullptr, nullptr), kBadArgument);
  EXPECT_EQ(
      aclrtSwitchStream(&left, ACL_RT_EQUAL, &right, ACL_RT_SWITCH_INT64, one.get(), nullptr, two.get()),
      kUnsupported);
  EXPECT_EQ(aclrtSwitchStream(nullptr, ACL_RT_EQUAL, nullptr, ACL_RT_SWITCH_INT32, nullptr, nullptr, nullptr),
            kBadArgument);
  EXPECT_EQ(aclrtCreateStreamConfigHandle(), nullptr);
  EXPECT_EQ(aclrtDestroyStreamConfigHandle(nullptr), kUnsupported);
  EXPECT_EQ(aclrtSetStreamConfigOpt(nullptr, ACL_RT_STREAM_FLAG, &left, sizeof left), kUnsupported);
  aclrtStream stream = sentinel();
  EXPECT_EQ(aclrtCreateStreamV2(&stream, nullptr), kUnsupported);
  EXPECT_EQ(stream, sentinel());
  EXPECT_EQ(aclrtCreateStreamV2(nullptr, nullptr), kUnsupported);
  without_context([&] {
    EXPECT_EQ(aclrtCreateStreamV2(&stream, nullptr), kUnsupported);
    EXPECT_EQ(aclrtPersistentTaskClean(&left), kUnsupported);
    EXPECT_EQ(last_error(), ACL_SUCCESS);
  });
  EXPECT_EQ(last_error(), ACL_SUCCESS);
}

}  // namespace stream_create_test
