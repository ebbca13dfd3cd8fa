// What happens after a task has failed: going on, or stopping all streams of the context.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "support/gates.h"
#include "support/worker.h"

namespace stream_failure_test {

using namespace belay_test;

class StreamFailure : public OnDevice {};

TEST_F(StreamFailure, R153_ContinueRunsWhatFollows) {
  const Failing failing;
  const Marks marks;
  const Stream stream, other;
  marks.queue(stream.get(), 0);
  failing.queue(stream.get());
  marks.queue(stream.get(), 1);
  marks.queue(other.get(), 2);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused) << "told when somebody waits";
  EXPECT_TRUE(marks.set(0));
  EXPECT_TRUE(marks.set(1));
  EXPECT_EQ(marks.try_queue(stream.get(), 3), ACL_SUCCESS) << "submitting goes on as well";
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  EXPECT_TRUE(marks.set(3));
  EXPECT_EQ(::aclrtSynchronizeStream(other.get()), ACL_SUCCESS);
  EXPECT_TRUE(marks.set(2));
}

TEST_F(StreamFailure, R153_ContinueWithoutEverWaiting) {
  const Failing failing;
  const Marks marks;
  const Stream stream;
  for (int i = 0; i < 50; ++i) failing.queue(stream.get());
  marks.queue(stream.get());
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
  EXPECT_TRUE(marks.set());
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
}

// A context with streams, one of which has the mode STOP and one of which has failed.
class Stopped {
 public:
  enum class Culprit { the_one_with_the_mode, another, the_default };
  explicit Stopped(Culprit culprit = Culprit::the_one_with_the_mode) {
    EXPECT_EQ(aclrtSetStreamFailureMode(with_mode_.get(), ACL_STOP_ON_FAILURE), ACL_SUCCESS);
    own_ = default_stream();
    failed_ = culprit == Culprit::another       ? other_.get()
              : culprit == Culprit::the_default ? own_
                                                : with_mode_.get();
    // All is queued before it fails, on every stream.
    gate_.hold(failed_);
    failing_.queue(failed_);
    failure_.record(failed_);
    std::size_t which = 0;
    for (aclrtStream stream : streams()) {
      if (stream != failed_) {
        EXPECT_EQ(::aclrtStreamWaitEvent(stream, failure_.get()), ACL_SUCCESS);
      }
      marks_.queue(stream, which++);
    }
    gate_.open();
    EXPECT_EQ(::aclrtSynchronizeStream(failed_), kRefused);
  }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;

  std::vector<aclrtStream> streams() const { return {with_mode_.get(), other_.get(), own_}; }
  aclrtStream failed() const { return failed_; }
  const Marks& marks() const { return marks_; }
  void expect_nothing_ran() const {
    for (std::size_t i = 0; i < streams().size(); ++i) EXPECT_FALSE(marks_.set(i)) << i;
  }

 private:
  Marks marks_;
  Failing failing_;
  WordGate gate_;
  Event failure_;
  Stream with_mode_, other_;
  aclrtStream own_ = nullptr, failed_ = nullptr;
};
using Culprit = Stopped::Culprit;

TEST_F(StreamFailure, R153_StopEndsAllStreamsOfTheContext) {
  for (const auto culprit : {Culprit::the_one_with_the_mode, Culprit::another, Culprit::the_default}) {
    SCOPED_TRACE(static_cast<int>(culprit));
    const OwnContext context;
    const Stopped stopped(culprit);
    stopped.expect_nothing_ran();
    for (aclrtStream stream : stopped.streams()) {
      last_error();
      EXPECT_EQ(stopped.marks().try_queue(stream, 5), kRefused) << "a submission gets the failure";
      EXPECT_EQ(last_error(), kRefused);
      EXPECT_EQ(::aclrtSynchronizeStream(stream), kRefused) << "and so does who waits";
      EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 60000), kRefused);
    }
    stopped.expect_nothing_ran();
    EXPECT_FALSE(stopped.marks().set(5));
  }
}

TEST_F(StreamFailure, R16_R153_TheErrorStays) {
  const OwnContext context;
  const Stopped stopped;
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(::aclrtSynchronizeStream(stopped.failed()), kRefused) << i;
    EXPECT_EQ(::aclrtSynchronizeDevice(), kRefused) << i;
    aclrtStreamStatus status{};
    EXPECT_EQ(aclrtStreamQuery(stopped.failed(), &status), kRefused) << i;
  }
}

TEST_F(StreamFailure, R153_StreamsWithoutWorkAreStoppedToo) {
  const OwnContext context;
  const Stream idle;
  const Marks marks;
  marks.queue(idle.get(), 0);
  EXPECT_EQ(::aclrtSynchronizeStream(idle.get()), ACL_SUCCESS);
  const Stopped stopped;
  aclrtStreamStatus status{};
  EXPECT_EQ(aclrtStreamQuery(idle.get(), &status), kRefused);
  EXPECT_EQ(::aclrtSynchronizeStream(idle.get()), kRefused);
  const Stream later;
  EXPECT_EQ(::aclrtSynchronizeStream(later.get()), kRefused) << "made after the failure";
  EXPECT_EQ(marks.try_queue(later.get(), 1), kRefused);
}

TEST_F(StreamFailure, R153_WhoWaitsForAnotherStreamOfTheContextComesBack) {
  const OwnContext context;
  const Failing failing;
  const WordGate gate, never;
  const Stream failed, other;
  EXPECT_EQ(aclrtSetStreamFailureMode(failed.get(), ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  gate.hold(failed.get());
  failing.queue(failed.get());
  never.hold(other.get());
  Waiting waiting([&] { return ::aclrtSynchronizeStream(other.get()); });
  let_time_pass(20ms);  // likely it waits by now; the answer is the same if it does not
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeStream(failed.get()), kRefused);
  EXPECT_EQ(waiting.fetch(), kRefused);
}

// The event will never be recorded: who waits for it is told why.
TEST_F(StreamFailure, R153_WhoWaitsForAnEventOfAStoppedStreamIsTold) {
  const OwnContext context;
  const Failing failing;
  const Event event;
  const Stream stream;
  EXPECT_EQ(aclrtSetStreamFailureMode(stream.get(), ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  const WordGate gate;
  gate.hold(stream.get());
  failing.queue(stream.get());
  event.record(stream.get());
  {
    const OpensLater later(gate);
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event.get(), 30000), kRefused) << "it began to wait before";
  }
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event.get(), 30000), kRefused) << "and after the failure";
}

void nothing(void*) {}

TEST_F(StreamFailure, R153_EveryKindOfSubmissionIsRefused) {
  const OwnContext context;
  Device block(4096);
  write_to(block.get(), Bytes(4096, 0));
  Pinned pinned(64);
  const Event event;
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  const Stopped stopped;
  aclrtStream const s = stopped.streams()[1];
  EXPECT_EQ(::aclrtMemcpyAsync(block.get(), 64, pinned.get(), 64, ACL_MEMCPY_HOST_TO_DEVICE, s), kRefused);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 1, 64, s), kRefused);
  EXPECT_EQ(aclrtMemsetD32Async(block.get(), 64, 1, 16, s), kRefused);
  EXPECT_EQ(aclrtValueWrite(block.get(), 1, 0, s), kRefused);
  EXPECT_EQ(aclrtValueWait(block.get(), 0, ACL_STREAM_WAIT_VALUE_EQ, s), kRefused);
  EXPECT_EQ(aclrtRecordEvent(event.get(), s), kRefused);
  EXPECT_EQ(aclrtRecordNotify(notify, s), kRefused);
  EXPECT_EQ(aclrtLaunchHostFunc(s, nothing, nullptr), kRefused);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 0));
  // What needs no stream works.
  EXPECT_EQ(aclrtMemset(block.get(), 64, 3, 64), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 3));
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(StreamFailure, R153_OtherContextsGoOn) {
  const Marks marks;
  const Stream outside;
  const aclrtContext primary = current_context();
  const OwnContext context;
  const Stopped stopped;
  EXPECT_EQ(aclrtSetCurrentContext(primary), ACL_SUCCESS);
  for (aclrtStream stream : {outside.get(), default_stream()}) {
    marks.queue(stream);
    EXPECT_EQ(::aclrtSynchronizeStream(stream), ACL_SUCCESS);
  }
  EXPECT_TRUE(marks.set());
  context.enter();
}

TEST_F(StreamFailure, R153_R118_ANewContextIsFresh) {
  {
    const OwnContext context;
    const Stopped stopped;
  }
  const OwnContext context;
  const Marks marks;
  const Stream stream;
  marks.queue(stream.get());
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  EXPECT_TRUE(marks.set());
}

TEST_F(StreamFailure, R153_R59_TheDefaultContextIsFreshAfterAReset) {
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  {
    const Stopped stopped;
    EXPECT_EQ(::aclrtSynchronizeStream(nullptr), kRefused);
  }
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(::aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  {
    const Marks marks;
    marks.queue(nullptr);
    EXPECT_EQ(::aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
    EXPECT_TRUE(marks.set());
  }
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
}

TEST_F(StreamFailure, R16_R154_AbortingEndsTheStop) {
  const OwnContext context;
  const Stopped stopped;
  for (aclrtStream stream : stopped.streams()) {  // the others keep their tasks until they are aborted, too
    if (stream == stopped.failed()) continue;
    EXPECT_EQ(aclrtStreamAbort(stream), ACL_SUCCESS);
    EXPECT_EQ(stopped.marks().try_queue(stream, 6), kRefused) << "not this stream has failed";
  }
  EXPECT_EQ(aclrtStreamAbort(stopped.failed()), ACL_SUCCESS);
  for (aclrtStream stream : stopped.streams()) {
    EXPECT_EQ(::aclrtSynchronizeStream(stream), ACL_SUCCESS);
    EXPECT_EQ(stopped.marks().try_queue(stream, 7), ACL_SUCCESS);
    EXPECT_EQ(::aclrtSynchronizeStream(stream), ACL_SUCCESS);
  }
  EXPECT_TRUE(stopped.marks().set(7));
  stopped.expect_nothing_ran();
}

TEST_F(StreamFailure, R153_R138_StoppedStreamsCanBeDestroyed) {
  const OwnContext context;
  const Stopped stopped;
  aclrtStream const another = new_stream();
  EXPECT_EQ(aclrtDestroyStream(another), ACL_SUCCESS);
  aclrtStream const last = new_stream();
  EXPECT_EQ(aclrtDestroyStreamForce(last), ACL_SUCCESS);
}  // and ~Stopped destroys those with tasks in them

TEST_F(StreamFailure, R153_SetWhileTasksAreQueued) {
  const OwnContext context;
  const Failing failing;
  const Marks marks;
  const WordGate gate;
  const Stream stream;
  gate.hold(stream.get());
  failing.queue(stream.get());
  marks.queue(stream.get());
  EXPECT_EQ(aclrtSetStreamFailureMode(stream.get(), ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  gate.open();
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), kRefused);
  EXPECT_FALSE(marks.set());
}

TEST_F(StreamFailure, R152_R153_WithoutAFailureTheModeIsNotSeen) {
  const Marks marks;
  const Stream stream;
  EXPECT_EQ(aclrtSetStreamFailureMode(stream.get(), ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  for (std::size_t i = 0; i < marks.size(); ++i) marks.queue(stream.get(), i);
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
  for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_TRUE(marks.set(i));
  EXPECT_EQ(marks.try_queue(stream.get(), 0, 0), ACL_SUCCESS);
  aclrtStream const wrong = stale_stream();
  EXPECT_EQ(marks.try_queue(wrong), kStale) << "a refused call is no failed task";
  EXPECT_EQ(::aclrtSynchronizeStream(stream.get()), ACL_SUCCESS);
}

}  // namespace stream_failure_test
