// Streams run their tasks in order, each for itself, and tell failures when somebody waits.
#include <cstdint>
#include <string>
#include <vector>

#include "support/gates.h"
#include "support/worker.h"

namespace stream_order_test {

using namespace belay_test;

class StreamOrder : public OnDevice {};

// All that can be queued is queued while the stream is held: a call that waited would wait for ever.
TEST_F(StreamOrder, R16_CallsReturnBeforeTheTaskHasRun) {
  const Marks marks;
  HostGate gate;
  const Stream stream;
  Device block(4096);
  write_to(block.get(), Bytes(4096, 0));
  Pinned pinned(4096);
  const Event event;
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  aclrtStream const s = stream.get();
  gate.hold_and_enter(s);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 4096, 5, 4096, s), ACL_SUCCESS);
  EXPECT_EQ(::aclrtMemcpyAsync(block.get(), 64, block.get(64), 64, ACL_MEMCPY_DEVICE_TO_DEVICE, s),
            ACL_SUCCESS);
  EXPECT_EQ(::aclrtMemcpyAsync(pinned.get(), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST, s), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWrite(block.get(), 9, 0, s), ACL_SUCCESS);
  EXPECT_EQ(aclrtValueWait(block.get(), 9, ACL_STREAM_WAIT_VALUE_EQ, s), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event.get(), s), ACL_SUCCESS);
  EXPECT_EQ(::aclrtStreamWaitEvent(s, event.get()), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordNotify(notify, s), ACL_SUCCESS);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, s, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetOverflowStatus(block.get(1024), 64, s), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetOverflowStatus(s), ACL_SUCCESS);
  EXPECT_EQ(aclrtLaunchHostFunc(
                s, [](void*) {}, nullptr),
            ACL_SUCCESS);
  EXPECT_FALSE(gate.left());
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0)) << "and nothing has run";
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeStream(s), ACL_SUCCESS);
  EXPECT_EQ(*at(pinned.get(), 0), 5);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(StreamOrder, R16_AnErrorComesBackOnceFromTheNextSynchronisation) {
  const Failing failing;
  const Marks marks;
  const Stream failed, fine;
  EXPECT_EQ(failing.try_queue(failed.get()), ACL_SUCCESS) << "the call itself is right";
  marks.queue(fine.get());
  EXPECT_EQ(::aclrtSynchronizeStream(fine.get()), ACL_SUCCESS) << "another stream knows nothing";
  EXPECT_EQ(::aclrtSynchronizeStream(failed.get()), kRefused);
  EXPECT_EQ(::aclrtSynchronizeStream(failed.get()), ACL_SUCCESS);
  marks.queue(failed.get());
  EXPECT_EQ(::aclrtSynchronizeStream(failed.get()), ACL_SUCCESS) << "nor does it come with the next work";
  EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
  for (int round = 0; round < 3; ++round) {  // and again
    failing.queue(failed.get());
    failing.queue(failed.get());
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(failed.get(), 60000), kRefused);
    EXPECT_EQ(::aclrtSynchronizeStream(failed.get()), ACL_SUCCESS) << "the first one of the two, once";
  }
}

TEST_F(StreamOrder, R16_TheDeviceTellsItToo) {
  const Failing failing;
  const Stream stream;
  failing.queue(stream.get());
  EXPECT_EQ(::aclrtSynchronizeDevice(), kRefused);
  EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS) << "once per stream, whoever asks";
}

TEST_F(StreamOrder, R16_AndSoDoesAnEventBehindTheTask) {
  const Failing failing;
  const Stream stream;
  const Event event;
  failing.queue(stream.get());
  event.record(stream.get());
  EXPECT_EQ(::aclrtSynchronizeEvent(event.get()), kRefused);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
}

TEST_F(StreamOrder, R22_R19_TheErrorIsOfTheThreadThatSynchronises) {
  const Failing failing;
  const Stream stream;
  Worker other;
  other.do_([] { EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS); });
  failing.queue(stream.get());
  const Event event;
  event.record(stream.get());
  EXPECT_TRUE(eventually([&] { return event.complete(); })) << "the task has failed by now";
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS) << "nobody was told";
  other.do_([&] {
    EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
    EXPECT_EQ(last_error(), kRefused);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(last_error(), ACL_SUCCESS) << "the submitting thread is not";
}

struct Line {
  std::vector<int>* order;
  int number;
};

TEST_F(StreamOrder, R17_FunctionsOfOneStreamAreCalledInOrder) {
  constexpr int kCount = 2000;
  std::vector<int> order;
  std::vector<Line> lines;
  for (int i = 0; i < kCount; ++i) lines.push_back({&order, i});
  const Stream stream;
  for (Line& line : lines) {
    EXPECT_EQ(aclrtLaunchHostFunc(
                  stream.get(),
                  [](void* pointer) {
                    const auto* line_ = static_cast<Line*>(pointer);
                    line_->order->push_back(line_->number);
                  },
                  &line),
              ACL_SUCCESS);
  }
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  ASSERT_EQ(order.size(), static_cast<std::size_t>(kCount));
  for (int i = 0; i < kCount; ++i) EXPECT_EQ(order[static_cast<std::size_t>(i)], i);
}

// Each copy must see what the fill before it wrote, and not what the fill after it will write.
TEST_F(StreamOrder, R17_TasksOfAllKindsKeepTheirOrder) {
  constexpr std::size_t kSize = 256 * kKB, kSteps = 60;
  Device board(kSize), kept(kSteps * 64);
  Pinned host(kSteps * 64);
  for (int round = 0; round < 3; ++round) {
    const Stream stream;
    EXPECT_EQ(aclrtMemset(kept.get(), kSteps * 64, 0xEE, kSteps * 64), ACL_SUCCESS);
    for (std::size_t i = 0; i < kSteps; ++i) {
      EXPECT_EQ(::aclrtMemsetAsync(board.get(), kSize, static_cast<int>(i), kSize, stream.get()),
                ACL_SUCCESS);
      EXPECT_EQ(::aclrtMemcpyAsync(kept.get(i * 64), 32, board.get(kSize - 64), 32,
                                   ACL_MEMCPY_DEVICE_TO_DEVICE, stream.get()),
                ACL_SUCCESS);
      EXPECT_EQ(::aclrtMemcpyAsync(host.get(i * 64), 32, board.get(kSize - 64), 32, ACL_MEMCPY_DEVICE_TO_HOST,
                                   stream.get()),
                ACL_SUCCESS);
    }
    EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
    const Bytes bytes = read_from(kept.get(), kSteps * 64);
    for (std::size_t i = 0; i < kSteps; ++i) {
      EXPECT_EQ(bytes[i * 64], i);
      EXPECT_EQ(*at(host.get(), i * 64), i);
    }
  }
}

// No stream waits for another one, the default stream included, in either direction.
TEST_F(StreamOrder, R17_StreamsDoNotWaitForEachOther) {
  const Stream one, two;
  aclrtStream const own = default_stream();
  for (aclrtStream held : {one.get(), two.get(), own}) {
    const Marks marks;
    const WordGate gate;
    gate.hold(held);
    marks.queue(held, 0);
    std::size_t which = 1;
    for (aclrtStream free : {one.get(), two.get(), own}) {
      if (free == held) continue;
      marks.queue(free, which);
      EXPECT_EQ(::aclrtSynchronizeStream(free), ACL_SUCCESS);
      EXPECT_TRUE(marks.set(which++));
    }
    EXPECT_FALSE(marks.set(0));
    EXPECT_EQ(status_of(held), ACL_STREAM_STATUS_NOT_READY);
    gate.open();
    EXPECT_EQ(::aclrtSynchronizeStream(held), ACL_SUCCESS);
    EXPECT_TRUE(marks.set(0));
  }
}

// While all but one of many streams stand still, the one moves.
TEST_F(StreamOrder, R17_ManyHeldStreamsDoNotHoldTheLast) {
  const Marks marks(66);
  const WordGate gate;
  std::vector<std::unique_ptr<Stream>> held;
  for (std::size_t i = 0; i < 64; ++i) {
    held.push_back(std::make_unique<Stream>());
    gate.hold(held.back()->get());
    marks.queue(held.back()->get(), i);
  }
  const Stream free;
  marks.queue(free.get(), 64);
  EXPECT_EQ(::aclrtSynchronizeStream(free.get()), ACL_SUCCESS);
  EXPECT_TRUE(marks.set(64));
  for (std::size_t i = 0; i < 64; ++i) EXPECT_FALSE(marks.set(i));
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeDevice(), ACL_SUCCESS);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_TRUE(marks.set(i));
}

}  // namespace stream_order_test
