// Which thread serves the callbacks of which stream.
#include "support/callbacks.h"
#include "support/gates.h"
#include "support/refusals.h"
#include "support/slices.h"
#include "support/worker.h"

namespace subscribe_report_test {

using namespace belay_test;

class SubscribeReport : public OnDevice {};

int subscribe(std::uint64_t thread, aclrtStream stream) { return aclrtSubscribeReport(thread, stream); }
int unsubscribe(std::uint64_t thread, aclrtStream stream) { return aclrtUnSubscribeReport(thread, stream); }

struct Half {
  std::string api;
  int (*call)(std::uint64_t, aclrtStream);
};
const Half kHalves[] = {{"aclrtSubscribeReport", subscribe}, {"aclrtUnSubscribeReport", unsubscribe}};

TEST_F(SubscribeReport, R189_R190_R10_R11_Handles) {
  Stream stream, gone;
  const Event event{Kind::plain};
  std::vector<void*> wrong = garbage();
  wrong.push_back(gone.destroy_now());
  wrong.push_back(event);
  for (const Half& half : kHalves) {
    for (void* const handle : wrong) expect_stored(half.call(this_thread(), handle), kStale, half.api);
    without_context([&] {
      expect_stored(half.call(this_thread(), stream), kNoContext, half.api);
      expect_stored(half.call(this_thread(), nullptr), kNoContext, half.api);
    });
  }
  EXPECT_EQ(aclrtProcessReport(1), kThreadSubscribed) << "nothing came of all that";
}

// The thread is not the caller, and it is not in aclrtProcessReport when the others do their part.
TEST_F(SubscribeReport, R189_AnyThreadCanBeNamed) {
  Stream stream;
  Worker worker;
  const std::uint64_t id = worker.ask(this_thread);
  EXPECT_EQ(subscribe(id, stream), ACL_SUCCESS);
  std::uint64_t called_on = 0;
  Body body = [&] { called_on = this_thread(); };
  EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
  EXPECT_EQ(worker.ask([] { return aclrtProcessReport(30000); }), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(called_on, id);
  EXPECT_NE(called_on, this_thread());
  EXPECT_EQ(unsubscribe(id, stream), ACL_SUCCESS);
}

TEST_F(SubscribeReport, R190_AStreamHasOneSubscriber) {
  Stream stream;
  Worker worker;
  const std::uint64_t other = worker.ask(this_thread);
  EXPECT_EQ(subscribe(this_thread(), stream), ACL_SUCCESS);
  expect_stored(subscribe(this_thread(), stream), kSubscribed, "aclrtSubscribeReport");
  expect_stored(subscribe(other, stream), kSubscribed, "aclrtSubscribeReport");
  EXPECT_EQ(unsubscribe(this_thread(), stream), ACL_SUCCESS);
  EXPECT_EQ(subscribe(other, stream), ACL_SUCCESS) << "it is free again";
  EXPECT_EQ(unsubscribe(other, stream), ACL_SUCCESS);
}

TEST_F(SubscribeReport, R190_R199_AStreamThatCallsHostFunctions) {
  Stream stream;
  Body nothing = [] {};
  EXPECT_EQ(launch(stream, nothing), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  expect_stored(subscribe(this_thread(), stream), kSubscribed, "aclrtSubscribeReport");
  expect_stored(unsubscribe(this_thread(), stream), kSubscribed, "aclrtUnSubscribeReport");
  Stream fresh;
  EXPECT_EQ(subscribe(this_thread(), fresh), ACL_SUCCESS) << "another stream does not care";
  EXPECT_EQ(unsubscribe(this_thread(), fresh), ACL_SUCCESS);
}

TEST_F(SubscribeReport, R190_R13_NullIsTheDefaultStream) {
  aclrtStream primary = nullptr;
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&primary), ACL_SUCCESS);
  EXPECT_EQ(subscribe(this_thread(), nullptr), ACL_SUCCESS);
  EXPECT_EQ(subscribe(this_thread(), primary), kSubscribed);
  int calls = 0;
  Body body = [&] { ++calls; };
  EXPECT_EQ(launch_callback(primary, body), ACL_SUCCESS);
  EXPECT_EQ(launch_callback(nullptr, body, ACL_CALLBACK_NO_BLOCK), ACL_SUCCESS);
  while (calls < 2 && aclrtProcessReport(30000) == ACL_SUCCESS) {
  }
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(unsubscribe(this_thread(), nullptr), ACL_SUCCESS);
  EXPECT_EQ(unsubscribe(this_thread(), primary), kSubscribed);
}

TEST_F(SubscribeReport, R190_OneThreadServesManyStreamsOfOneDevice) {
  constexpr int kStreams = 40;
  const Elsewhere other;  // of the same device
  std::vector<std::unique_ptr<Stream>> streams;
  Journal journal;
  std::vector<Body> bodies;
  bodies.reserve(kStreams + 1);
  for (int i = 0; i < kStreams; ++i) {
    streams.push_back(std::make_unique<Stream>());
    bodies.emplace_back([&journal, i] { journal.note(i); });
    EXPECT_EQ(subscribe(this_thread(), *streams.back()), ACL_SUCCESS);
    EXPECT_EQ(launch_callback(*streams.back(), bodies.back()), ACL_SUCCESS);
  }
  const aclrtStream theirs = other.stream();
  other.enter();
  bodies.emplace_back([&journal] { journal.note(kStreams); });
  EXPECT_EQ(subscribe(this_thread(), theirs), ACL_SUCCESS) << "the device counts, not the context";
  EXPECT_EQ(launch_callback(theirs, bodies.back()), ACL_SUCCESS);
  while (journal.entries().size() < kStreams + 1 && aclrtProcessReport(30000) == ACL_SUCCESS) {
  }
  std::vector<int> called = journal.entries();
  std::sort(called.begin(), called.end());
  ASSERT_EQ(called.size(), kStreams + 1U);
  for (int i = 0; i <= kStreams; ++i) EXPECT_EQ(called[static_cast<std::size_t>(i)], i);
  EXPECT_EQ(unsubscribe(this_thread(), theirs), ACL_SUCCESS);
  other.leave();
  for (const auto& stream : streams) EXPECT_EQ(unsubscribe(this_thread(), *stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(1), kThreadSubscribed);
}

TEST_F(SubscribeReport, R190_AThreadServesOneDevice) {
  Stream here;
  const Elsewhere other{1};
  const aclrtStream there = other.stream();
  EXPECT_EQ(subscribe(this_thread(), here), ACL_SUCCESS);
  other.enter();
  expect_stored(subscribe(this_thread(), there), kThreadSubscribed, "aclrtSubscribeReport");
  Worker worker;
  const std::uint64_t id = worker.ask(this_thread);
  EXPECT_EQ(subscribe(id, there), ACL_SUCCESS) << "another thread may";
  EXPECT_EQ(unsubscribe(id, there), ACL_SUCCESS);
  other.leave();
  EXPECT_EQ(unsubscribe(this_thread(), here), ACL_SUCCESS);
  other.enter();
  EXPECT_EQ(subscribe(this_thread(), there), ACL_SUCCESS) << "it serves no other any more";
  EXPECT_EQ(unsubscribe(this_thread(), there), ACL_SUCCESS);
  other.leave();
}

TEST_F(SubscribeReport, R190_AtMost1024Threads) {
  constexpr std::uint64_t kBase = 0x7000000000000000, kThreads = 1024;
  std::vector<std::unique_ptr<Stream>> streams;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    streams.push_back(std::make_unique<Stream>());
    ASSERT_EQ(subscribe(kBase + i, *streams.back()), ACL_SUCCESS) << i;
  }
  Stream more;
  expect_stored(subscribe(kBase + kThreads, more), kInternal, "aclrtSubscribeReport");
  EXPECT_EQ(subscribe(kBase, more), ACL_SUCCESS) << "no further thread";
  EXPECT_EQ(unsubscribe(kBase, more), ACL_SUCCESS);
  EXPECT_EQ(unsubscribe(kBase + 7, *streams[7]), ACL_SUCCESS);
  EXPECT_EQ(subscribe(kBase + kThreads, more), ACL_SUCCESS) << "one has gone";
  EXPECT_EQ(unsubscribe(kBase + kThreads, more), ACL_SUCCESS);
  EXPECT_EQ(subscribe(kBase + 7, *streams[7]), ACL_SUCCESS);
  for (std::uint64_t i = 0; i < kThreads; ++i) EXPECT_EQ(unsubscribe(kBase + i, *streams[i]), ACL_SUCCESS);
}

TEST_F(SubscribeReport, R191_OnlyTheSubscriberIsUnsubscribed) {
  Stream stream;
  Worker worker;
  const std::uint64_t other = worker.ask(this_thread);
  expect_stored(unsubscribe(this_thread(), stream), kSubscribed, "aclrtUnSubscribeReport");
  EXPECT_EQ(subscribe(this_thread(), stream), ACL_SUCCESS);
  expect_stored(unsubscribe(other, stream), kThreadSubscribed, "aclrtUnSubscribeReport");
  bool called = false;
  Body body = [&] { called = true; };
  EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS) << "it is still subscribed";
  EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
  EXPECT_TRUE(called);
  worker.do_([&] {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclrtUnSubscribeReport(this_thread(), stream), kThreadSubscribed);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  });
  EXPECT_EQ(unsubscribe(this_thread(), stream), ACL_SUCCESS);
  EXPECT_EQ(unsubscribe(this_thread(), stream), kSubscribed);
}

// Both kinds, before the stream has come to them: nobody calls them, and nothing is held.
TEST_F(SubscribeReport, R191_QueuedCallbacksAreDropped) {
  Stream stream;
  NotifyGate gate;
  const Device block{64};
  bool called = false;
  Body body = [&] { called = true; };
  EXPECT_EQ(subscribe(this_thread(), stream), ACL_SUCCESS);
  gate.hold(stream);
  EXPECT_EQ(launch_callback(stream, body, ACL_CALLBACK_NO_BLOCK), ACL_SUCCESS);
  EXPECT_EQ(launch_callback(stream, body, ACL_CALLBACK_BLOCK), ACL_SUCCESS);
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 4, 64, stream), ACL_SUCCESS);
  EXPECT_EQ(unsubscribe(this_thread(), stream), ACL_SUCCESS);
  gate.open();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 4));
  EXPECT_EQ(aclrtProcessReport(1), kThreadSubscribed);
  EXPECT_EQ(subscribe(this_thread(), stream), ACL_SUCCESS) << "a new subscription does not bring them back";
  EXPECT_EQ(aclrtProcessReport(kMoment), kNothingToReport);
  EXPECT_EQ(unsubscribe(this_thread(), stream), ACL_SUCCESS);
  EXPECT_FALSE(called);
}

// Neither the same thread nor another gets what was queued for the subscription before.
TEST_F(SubscribeReport, R191_ANewSubscriptionDoesNotBringThemBack) {
  Stream stream;
  NotifyGate gate;
  Journal journal;
  Body old = [&] { journal.note(1); }, young = [&] { journal.note(2); };
  EXPECT_EQ(subscribe(this_thread(), stream), ACL_SUCCESS);
  gate.hold(stream);
  EXPECT_EQ(launch_callback(stream, old, ACL_CALLBACK_NO_BLOCK), ACL_SUCCESS);
  EXPECT_EQ(launch_callback(stream, old), ACL_SUCCESS);
  EXPECT_EQ(unsubscribe(this_thread(), stream), ACL_SUCCESS);
  EXPECT_EQ(subscribe(this_thread(), stream), ACL_SUCCESS);
  EXPECT_EQ(launch_callback(stream, young), ACL_SUCCESS);
  gate.open();
  EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(journal.entries(), std::vector<int>{2});
  EXPECT_EQ(unsubscribe(this_thread(), stream), ACL_SUCCESS);
}

TEST_F(SubscribeReport, R191_ABlockingCallbackThatIsDroppedReleasesItsStream) {
  Stream stream;
  bool called = false;
  Body body = [&] { called = true; };
  EXPECT_EQ(subscribe(this_thread(), stream), ACL_SUCCESS);
  EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
  expect_held(stream);
  EXPECT_EQ(unsubscribe(this_thread(), stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_FALSE(called);
}

// What other streams have for the same thread stays.
TEST_F(SubscribeReport, R191_OtherStreamsKeepTheirCallbacks) {
  Stream dropped, kept;
  Journal journal;
  Body one = [&] { journal.note(1); }, two = [&] { journal.note(2); };
  EXPECT_EQ(subscribe(this_thread(), dropped), ACL_SUCCESS);
  EXPECT_EQ(subscribe(this_thread(), kept), ACL_SUCCESS);
  EXPECT_EQ(launch_callback(dropped, one, ACL_CALLBACK_NO_BLOCK), ACL_SUCCESS);
  EXPECT_EQ(launch_callback(kept, two, ACL_CALLBACK_NO_BLOCK), ACL_SUCCESS);
  EXPECT_EQ(finish(dropped), ACL_SUCCESS);
  EXPECT_EQ(finish(kept), ACL_SUCCESS);
  EXPECT_EQ(unsubscribe(this_thread(), dropped), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
  EXPECT_EQ(journal.entries(), std::vector<int>{2});
  EXPECT_EQ(unsubscribe(this_thread(), kept), ACL_SUCCESS);
}

TEST_F(SubscribeReport, R191_R199_AfterwardsTheStreamMayCallHostFunctions) {
  Stream stream;
  EXPECT_EQ(subscribe(this_thread(), stream), ACL_SUCCESS);
  bool called = false;
  Body body = [&] { called = true; };
  EXPECT_EQ(launch(stream, body), kSubscribed);
  EXPECT_EQ(unsubscribe(this_thread(), stream), ACL_SUCCESS);
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_TRUE(called);
}

TEST_F(SubscribeReport, R137_ASubscriptionGoesWithItsStream) {
  for (const bool by_force : {false, true}) {
    Stream stream;
    EXPECT_EQ(subscribe(this_thread(), stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtProcessReport(1), kNothingToReport);
    if (by_force) {
      EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
      stream.forget();
    } else {
      stream.destroy_now();
    }
    EXPECT_EQ(aclrtProcessReport(1), kThreadSubscribed);
  }
}

// A thread that waits in aclrtProcessReport learns that it serves nothing any more, also when the stream
// goes.
TEST_F(SubscribeReport, R191_R137_R195_UnsubscribingAThreadThatWaits) {
  for (const bool with_the_stream : {false, true}) {
    Stream stream;
    Signal started, over;
    std::atomic<int> answer{-1};
    std::atomic<std::uint64_t> id{0};
    std::thread processing([&] {
      id = this_thread();
      started.give();
      const auto end = std::chrono::steady_clock::now() + kPatience;
      while (aclrtProcessReport(1) == kThreadSubscribed && std::chrono::steady_clock::now() < end) {
      }
      answer = aclrtProcessReport(-1);
      over.give();
    });
    EXPECT_TRUE(started.wait());
    EXPECT_EQ(subscribe(id, stream), ACL_SUCCESS);
    let_time_pass(std::chrono::milliseconds{2 * kMoment});  // likely it waits by now; it need not
    if (with_the_stream) {
      stream.destroy_now();
    } else {
      EXPECT_EQ(unsubscribe(id, stream), ACL_SUCCESS);
    }
    EXPECT_TRUE(over.wait());
    if (!over.given()) {  // frees the thread, so that the test ends
      Stream other;
      Body nothing = [] {};
      EXPECT_EQ(subscribe(id, other), ACL_SUCCESS);
      EXPECT_EQ(launch_callback(other, nothing), ACL_SUCCESS);
      processing.join();
      return;
    }
    processing.join();
    EXPECT_EQ(answer, kThreadSubscribed);
  }
}

TEST_F(SubscribeReport, R189_R190_R18_ManyThreadsSubscribe) {
  std::vector<std::thread> threads;
  Stream contested;
  std::atomic<int> won{0};
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      {
        Stream own;
        for (int i = 0; i < slice(100, 10000); ++i) {
          EXPECT_EQ(subscribe(this_thread(), own), ACL_SUCCESS);
          const int answer = subscribe(this_thread(), contested);
          EXPECT_TRUE(answer == ACL_SUCCESS || answer == kSubscribed) << answer;
          if (answer == ACL_SUCCESS) {
            EXPECT_EQ(won.fetch_add(1), 0) << "two subscribers of one stream";
            --won;
            EXPECT_EQ(unsubscribe(this_thread(), contested), ACL_SUCCESS);
          }
          EXPECT_EQ(unsubscribe(this_thread(), own), ACL_SUCCESS);
        }
      }
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace subscribe_report_test
