// Callbacks that a thread of the program fetches.
#include "support/as_enum.h"
#include "support/callbacks.h"
#include "support/gates.h"
#include "support/refusals.h"
#include "support/worker.h"

namespace process_report_test {

using namespace belay_test;

class ProcessReport : public OnDevice {};

// A stream that the given thread, or this one, serves.
class Served {
 public:
  explicit Served(std::uint64_t thread = this_thread()) : thread_{thread} {
    EXPECT_EQ(aclrtSubscribeReport(thread_, stream_), ACL_SUCCESS);
  }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;
  ~Served() { EXPECT_EQ(aclrtUnSubscribeReport(thread_, stream_), ACL_SUCCESS); }
  operator aclrtStream() const { return stream_; }  // NOLINT: it stands for its handle

 private:
  std::uint64_t thread_;
  Stream stream_;
};

void nothing(void*) {}

TEST_F(ProcessReport, R192_BlockTypes) {
  const Served stream;
  const std::string api = "aclrtLaunchCallback";
  for (const int type : {2, 3, -1, 0x7FFFFFFF}) {
    const auto wrong = as_enum<aclrtCallbackBlockType>(type);
    expect_not_stored(aclrtLaunchCallback(nothing, nullptr, wrong, stream), kBadArgument, api);
    expect_not_stored(aclrtLaunchCallback(nullptr, nullptr, wrong, sentinel()), kBadArgument, api);
    without_context(
        [&] { expect_not_stored(aclrtLaunchCallback(nothing, nullptr, wrong, stream), kBadArgument, api); });
  }
  EXPECT_TRUE(idle(stream));
}

TEST_F(ProcessReport, R192_OtherRefusals) {
  const Served stream;
  Stream unserved, host_mode, gone;
  Body body = [] {};
  EXPECT_EQ(launch(host_mode, body), ACL_SUCCESS);
  EXPECT_EQ(finish(host_mode), ACL_SUCCESS);
  const Elsewhere other;
  const aclrtStream theirs = other.stream();
  std::vector<void*> wrong = garbage();
  wrong.push_back(gone.destroy_now());
  const std::string api = "aclrtLaunchCallback";
  for (const auto type : {ACL_CALLBACK_NO_BLOCK, ACL_CALLBACK_BLOCK}) {
    expect_stored(aclrtLaunchCallback(nullptr, nullptr, type, stream), kBadValue, api);
    expect_stored(aclrtLaunchCallback(nothing, nullptr, type, unserved), kNoCallback, api);
    expect_stored(aclrtLaunchCallback(nothing, nullptr, type, nullptr), kNoCallback, api);
    expect_stored(aclrtLaunchCallback(nothing, nullptr, type, host_mode), kSubscribed, api);
    expect_stored(aclrtLaunchCallback(nothing, nullptr, type, theirs), kOtherContext, api);
    for (void* const handle : wrong)
      expect_stored(aclrtLaunchCallback(nothing, nullptr, type, handle), kStale, api);
    without_context(
        [&] { expect_stored(aclrtLaunchCallback(nothing, nullptr, type, stream), kNoContext, api); });
  }
  EXPECT_TRUE(idle(stream));
  EXPECT_EQ(aclrtProcessReport(1), kNothingToReport) << "nothing was queued";
}

TEST_F(ProcessReport, R193_OneCallWithItsArgumentOnTheSubscribedThread) {
  for (const auto type : {ACL_CALLBACK_NO_BLOCK, ACL_CALLBACK_BLOCK}) {
    Worker worker;
    const std::uint64_t id = worker.ask(this_thread);
    const Served stream{id};
    struct Seen {
      std::uint64_t thread;
      int calls;
    } seen{0, 0};
    const auto note = [](void* data) {
      auto* const to = static_cast<Seen*>(data);
      to->thread = this_thread();
      ++to->calls;
    };
    EXPECT_EQ(aclrtLaunchCallback(note, &seen, type, stream), ACL_SUCCESS);
    EXPECT_EQ(worker.ask([] { return aclrtProcessReport(30000); }), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(worker.ask([] { return aclrtProcessReport(kMoment); }), kNothingToReport);
    EXPECT_EQ(seen.calls, 1);
    EXPECT_EQ(seen.thread, id);
  }
}

TEST_F(ProcessReport, R193_AfterAllEarlierTasks) {
  for (const auto type : {ACL_CALLBACK_NO_BLOCK, ACL_CALLBACK_BLOCK}) {
    const Served stream;
    const Device block{64};
    const Pinned host{64};
    std::memset(host.get(), 0, 64);
    {
      NotifyGate gate;
      bool called = false;
      std::uint8_t seen = 0;
      Body body = [&] {
        called = true;
        seen = *at(host.get(), 63);
      };
      gate.hold(stream);
      EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 5, 64, stream), ACL_SUCCESS);
      EXPECT_EQ(::aclrtMemcpyAsync(host.get(), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST, stream),
                ACL_SUCCESS);
      EXPECT_EQ(launch_callback(stream, body, type), ACL_SUCCESS);
      EXPECT_EQ(aclrtProcessReport(2 * kMoment), kNothingToReport) << "the stream has not come to it";
      EXPECT_FALSE(called);
      gate.open();
      EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
      EXPECT_TRUE(called);
      EXPECT_EQ(seen, 5);
    }
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
  }
}

TEST_F(ProcessReport, R193_NoBlock_TheStreamGoesOn) {
  const Served stream;
  bool called = false;
  Body body = [&] { called = true; };
  EXPECT_EQ(launch_callback(stream, body, ACL_CALLBACK_NO_BLOCK), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS) << "nobody has fetched it";
  EXPECT_TRUE(idle(stream));
  EXPECT_FALSE(called);
  EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
  EXPECT_TRUE(called);
}

TEST_F(ProcessReport, R193_Block_LaterTasksStartWhenItHasReturned) {
  Worker worker;
  const Served stream{worker.ask(this_thread)};
  const Device block{64};
  write_to(block.get(), Bytes(64, 1));
  const Event after{Kind::plain};
  int inside = -1;
  std::atomic<bool> over{false};
  Body body = [&] {
    let_time_pass(std::chrono::milliseconds{kMoment});  // in which the stream must not go on
    inside = recorded(after);
    over = true;
  };
  EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 2, 64, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(after, stream), ACL_SUCCESS);
  expect_held(stream);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 1));
  std::thread waiting([&] {
    EXPECT_EQ(::aclrtSynchronizeEvent(after), ACL_SUCCESS);
    EXPECT_TRUE(over);
  });
  EXPECT_EQ(worker.ask([] { return aclrtProcessReport(30000); }), ACL_SUCCESS);
  waiting.join();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(inside, kNotReady) << "the tasks behind it had not been done while it ran";
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 2));
}

TEST_F(ProcessReport, R193_R195_ManyCallsInOrder) {
  const Served stream;
  Journal journal;
  std::vector<Body> bodies;
  for (int i = 0; i < 60; ++i) bodies.emplace_back([&journal, i] { journal.note(i); });
  std::vector<int> expected;
  for (int i = 0; i < 60; ++i) {
    expected.push_back(i);
    EXPECT_EQ(launch_callback(stream, bodies[static_cast<std::size_t>(i)],
                              i % 3 == 0 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK),
              ACL_SUCCESS);
  }
  while (journal.entries().size() < 60 && aclrtProcessReport(30000) == ACL_SUCCESS) {
  }
  EXPECT_EQ(journal.entries(), expected);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(ProcessReport, R194_Timeouts) {
  const std::string api = "aclrtProcessReport";
  for (const std::int32_t timeout : {0, -2, -1000, std::numeric_limits<std::int32_t>::min()}) {
    expect_not_stored(aclrtProcessReport(timeout), kBadArgument, api);
  }
  const Served stream;
  for (const std::int32_t timeout : {0, -2, std::numeric_limits<std::int32_t>::min()}) {
    expect_not_stored(aclrtProcessReport(timeout), kBadArgument, api);
  }
  Body body = [] {};
  for (const std::int32_t timeout : {-1, std::numeric_limits<std::int32_t>::max()}) {
    EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
    EXPECT_EQ(aclrtProcessReport(timeout), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
  }
}

TEST_F(ProcessReport, R195_NotSubscribed) {
  const std::string api = "aclrtProcessReport";
  for (const std::int32_t timeout : {-1, 1, std::numeric_limits<std::int32_t>::max()}) {
    expect_stored(aclrtProcessReport(timeout), kThreadSubscribed, api);
  }
  const Served stream;
  on_new_thread([&] { expect_stored(aclrtProcessReport(-1), kThreadSubscribed, api); });
}

TEST_F(ProcessReport, R195_NothingInTime) {
  const Served stream;
  const auto start = std::chrono::steady_clock::now();
  expect_stored(aclrtProcessReport(150), kNothingToReport, "aclrtProcessReport");
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{150});
}

TEST_F(ProcessReport, R195_RunsAllThatAreReady) {
  const Served one, two;
  Journal journal;
  std::vector<Body> bodies;
  for (int i = 0; i < 10; ++i) bodies.emplace_back([&journal, i] { journal.note(i); });
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(launch_callback(i < 5 ? one : two, bodies[static_cast<std::size_t>(i)], ACL_CALLBACK_NO_BLOCK),
              ACL_SUCCESS);
    EXPECT_EQ(finish(i < 5 ? one : two), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
  EXPECT_EQ(journal.entries(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(aclrtProcessReport(kMoment), kNothingToReport);
}

// The thread waits before there is anything, and a callback of another thread wakes it.
TEST_F(ProcessReport, R195_WaitsUntilOneIsReady) {
  Worker worker;
  const Served stream{worker.ask(this_thread)};
  Signal called;
  Body body = [&] { called.give(); };
  std::thread launching([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    let_time_pass(std::chrono::milliseconds{kMoment});  // likely the worker waits by now; it need not
    EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(worker.ask([] { return aclrtProcessReport(-1); }), ACL_SUCCESS);
  EXPECT_TRUE(called.given());
  launching.join();
}

TEST_F(ProcessReport, R196_NoContextIsNeeded) {
  Worker worker;  // it never sets a device
  const Served stream{worker.ask(this_thread)};
  bool called = false;
  Body body = [&] { called = true; };
  EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
  EXPECT_EQ(worker.ask([] { return aclrtProcessReport(30000); }), ACL_SUCCESS);
  EXPECT_TRUE(called);
  EXPECT_EQ(worker.ask([] {
    aclrtContext context = nullptr;
    return aclrtGetCurrentContext(&context);
  }),
            kNoContext)
      << "and none is left behind";
}

TEST_F(ProcessReport, R197_TheThreadMayBeginBeforeItIsSubscribed) {
  Signal began, called;
  std::atomic<int> unsubscribed{0}, other{0};
  std::atomic<std::uint64_t> id{0};
  std::thread processing([&] {
    id = this_thread();
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!called.given() && std::chrono::steady_clock::now() < end) {
      const int answer = aclrtProcessReport(100);
      if (answer == kThreadSubscribed) {
        ++unsubscribed;
        began.give();
      } else if (answer != ACL_SUCCESS && answer != kNothingToReport) {
        ++other;
      }
    }
  });
  EXPECT_TRUE(began.wait());
  {
    const Served stream{id};
    Body body = [&] { called.give(); };
    EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
    EXPECT_TRUE(called.wait());
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
  }
  processing.join();
  EXPECT_GT(unsubscribed, 0);
  EXPECT_EQ(other, 0);
}

// A host function and a callback of one stream, in either order, do not mix.
TEST_F(ProcessReport, R199_NotBothOnOneStream) {
  Body body = [] {};
  const Served served;
  expect_stored(launch(served, body), kSubscribed, "aclrtLaunchHostFunc");
  EXPECT_EQ(launch_callback(served, body, ACL_CALLBACK_NO_BLOCK), ACL_SUCCESS) << "it stays as it was";
  EXPECT_EQ(finish(served), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
  Stream stream;
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  EXPECT_EQ(launch_callback(stream, body), kSubscribed);
  EXPECT_EQ(aclrtSubscribeReport(this_thread(), stream), kSubscribed);
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(ProcessReport, R200_R143_SynchronisingTheOwnStreamIsDetected) {
  Worker worker;
  worker.do_([] { EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS); });
  {
    const Served stream{worker.ask(this_thread)};
    std::vector<int> answers;
    std::vector<std::string> texts;
    Body body = [&] {
      for (const int answer : {::aclrtSynchronizeStream(stream),
                               ::aclrtSynchronizeStreamWithTimeout(stream, 1000), ::aclrtSynchronizeDevice()})
        answers.push_back(answer);
      texts.push_back(recent_message());
    };
    EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
    EXPECT_EQ(worker.ask([] { return aclrtProcessReport(30000); }), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(answers, (std::vector<int>{kInternal, kInternal, kInternal}));
    ASSERT_EQ(texts.size(), 1U);
    EXPECT_TRUE(mentions(texts[0], "aclrtSynchronizeStream")) << texts[0];
  }
  worker.do_([] { EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS); });
}

TEST_F(ProcessReport, R200_MemoryCallsInsideACallback) {
  const Served stream;
  int failures = -1;
  Body body = [&] {
    failures = 0;
    void* block = nullptr;
    if (::aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) ++failures;
    if (::aclrtMemset(block, 4096, 1, 4096) != ACL_SUCCESS) ++failures;
    if (read_from(block, 4096) != Bytes(4096, 1)) ++failures;
    if (aclrtFree(block) != ACL_SUCCESS) ++failures;
  };
  EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(failures, 0);
}

// Threads that serve, threads that launch and threads that come and go, all at once. Each stream's calls
// come one by one, in order, on its own thread.
TEST_F(ProcessReport, R189_R193_R195_R18_ManyThreadsAtOnce) {
  constexpr int kCalls = 120;
  std::vector<std::unique_ptr<Processor>> processors;
  for (int i = 0; i < 3; ++i) processors.push_back(std::make_unique<Processor>());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const std::uint64_t id = processors[t % processors.size()]->id();
      for (int round = 0; round < 3; ++round) {
        const Served stream{id};
        Journal journal;
        std::atomic<int> elsewhere{0};
        std::vector<Body> bodies;
        for (int i = 0; i < kCalls; ++i) {
          bodies.emplace_back([&, i] {
            if (this_thread() != id) ++elsewhere;
            journal.note(i);
          });
        }
        for (int i = 0; i < kCalls; ++i) {
          EXPECT_EQ(launch_callback(
                        stream, bodies[static_cast<std::size_t>(i)],
                        (i + round) % 2 == 0 || i == kCalls - 1 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK),
                    ACL_SUCCESS);
        }
        EXPECT_EQ(finish(stream), ACL_SUCCESS);
        const std::vector<int> called = journal.entries();
        EXPECT_EQ(called.size(), static_cast<std::size_t>(kCalls));
        EXPECT_TRUE(std::is_sorted(called.begin(), called.end()));
        EXPECT_EQ(elsewhere, 0);
      }
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace process_report_test
