// Callbacks and the threads that call them, while subscriptions, contexts and the process come and go.
#include "support/callbacks.h"
#include "support/events.h"
#include "support/streams.h"
#include "support/worker.h"

namespace callback_life_test {

using namespace belay_test;

class CallbackLife : public OnDevice {};

TEST_F(CallbackLife, R191_R193_ACallbackThatEndsItsSubscription) {
  for (const auto type : {ACL_CALLBACK_NO_BLOCK, ACL_CALLBACK_BLOCK}) {
    Stream stream;
    const Device block{64};
    write_to(block.get(), Bytes(64, 0));
    int calls = 0, answer = -1;
    Body body = [&] {
      ++calls;
      answer = aclrtUnSubscribeReport(this_thread(), stream);
    };
    Body second = [&] { calls += 100; };
    EXPECT_EQ(aclrtSubscribeReport(this_thread(), stream), ACL_SUCCESS);
    EXPECT_EQ(launch_callback(stream, body, type), ACL_SUCCESS);
    EXPECT_EQ(launch_callback(stream, second, ACL_CALLBACK_BLOCK), ACL_SUCCESS);
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 1, 64, stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
    EXPECT_EQ(answer, ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS) << "the other is dropped and holds nothing";
    EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 1));
    EXPECT_EQ(calls, 1);
    EXPECT_EQ(aclrtProcessReport(1), kThreadSubscribed);
  }
}

TEST_F(CallbackLife, R191_R193_UnsubscribingWhileTheCallbackRuns) {
  Worker worker;
  const std::uint64_t id = worker.ask(this_thread);
  Stream stream;
  Signal entered, leave;
  std::atomic<bool> over{false};
  Body body = [&] {
    entered.give();
    EXPECT_TRUE(leave.wait());
    over = true;
  };
  EXPECT_EQ(aclrtSubscribeReport(id, stream), ACL_SUCCESS);
  EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
  std::thread main([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_TRUE(entered.wait());
    EXPECT_EQ(aclrtUnSubscribeReport(id, stream), ACL_SUCCESS);
    leave.give();
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_TRUE(over) << "a callback that runs is not dropped, and the stream waits for it";
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(worker.ask([] { return aclrtProcessReport(30000); }), ACL_SUCCESS);
  main.join();
}

TEST_F(CallbackLife, R193_R195_CallbacksThatAskAndRecord) {
  Stream stream;
  const Event event{Kind::plain};
  std::vector<int> seen;
  Body body = [&] {
    seen.push_back(recorded(event));
    seen.push_back(idle(stream) ? 1 : 0);
  };
  EXPECT_EQ(aclrtSubscribeReport(this_thread(), stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(seen, (std::vector<int>{kComplete, 0})) << "the callback itself is a task of the stream";
  EXPECT_EQ(aclrtUnSubscribeReport(this_thread(), stream), ACL_SUCCESS);
}

TEST_F(CallbackLife, R198_R119_AContextThatIsDestroyedWaitsForThem) {
  std::atomic<int> calls{0};
  Body body = [&] {
    let_time_pass(5ms);  // whoever does not wait finds fewer calls
    ++calls;
  };
  {
    const Elsewhere other;
    const aclrtStream stream = other.stream();
    other.enter();
    for (int i = 0; i < 5; ++i) EXPECT_EQ(launch(i % 2 == 0 ? stream : nullptr, body), ACL_SUCCESS);
    other.leave();
  }
  EXPECT_EQ(calls, 5);
}

// All of it at once: contexts come and go, their streams are served and call, threads subscribe and leave.
TEST_F(CallbackLife, R18_R189_R198_EverythingAtOnce) {
  Processor served_by;
  const std::uint64_t id = served_by.id();
  std::vector<std::thread> threads;
  std::atomic<int> fetched{0}, called{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Body fetch = [&] { ++fetched; }, call = [&] { ++called; };
      for (int i = 0; i < 15; ++i) {
        const Elsewhere own;
        own.enter();
        {
          Stream one, two;
          const Event event{Kind::ex};
          EXPECT_EQ(aclrtSubscribeReport(id, one), ACL_SUCCESS);
          for (int round = 0; round < 5; ++round) {
            EXPECT_EQ(launch_callback(one, fetch), ACL_SUCCESS);
            EXPECT_EQ(aclrtRecordEvent(event, one), ACL_SUCCESS);
            EXPECT_EQ(::aclrtStreamWaitEvent(two, event), ACL_SUCCESS);
            EXPECT_EQ(launch(two, call), ACL_SUCCESS);
          }
          EXPECT_EQ(finish(two), ACL_SUCCESS);
          EXPECT_EQ(aclrtUnSubscribeReport(id, one), ACL_SUCCESS);
        }
        own.leave();
      }
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(fetched, 4 * 15 * 5);
  EXPECT_EQ(called, 4 * 15 * 5);
}

}  // namespace callback_life_test
