// What all functions that queue copies and fills have in common: the stream, the context, and not waiting.
#include "support/async_calls.h"
#include "support/gates.h"
#include "support/mistakes.h"

namespace async_functions_test {

using namespace belay_test;

class AsyncFunctions : public OnDevice {
 protected:
  void SetUp() override {
    OnDevice::SetUp();
    host_ = std::make_unique<Pinned>(256);
    calls_ = std::make_unique<AsyncCalls>(host_->get());
    ASSERT_EQ(calls_->set_descriptor(), ACL_SUCCESS);
  }
  void TearDown() override {
    calls_.reset();
    host_.reset();
    OnDevice::TearDown();
  }
  std::unique_ptr<Pinned> host_;
  std::unique_ptr<AsyncCalls> calls_;
};

TEST_F(AsyncFunctions, M4_P4_HandlesThatAreNoStream_Are107017_NothingHappens) {
  const Contexts contexts;
  aclrtContext const context = current_context();
  Event event;
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  std::uint64_t garbage[16] = {};
  Stream alive;
  const aclrtStream stale = stale_stream();
  for (const AsyncCalls::One& one : calls_->all()) {
    for (void* handle :
         {stale, context, event.get(), notify, static_cast<void*>(garbage), host_->get(),
          static_cast<void*>(at(alive.get(), 1)), reinterpret_cast<void*>(std::uintptr_t{1})}) {
      expect_answer(contexts.run(Where::own, [&] { return one.call(handle); }), kStale, one.name, one.name);
    }
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
    EXPECT_TRUE(calls_->untouched()) << one.name;
  }
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(AsyncFunctions, M4_P6_R12_StreamOfAnotherContext_Is107003_NothingHappens) {
  const Contexts contexts;
  Stream stream;
  for (const AsyncCalls::One& one : calls_->all()) {
    expect_answer(contexts.run(Where::other, [&] { return one.call(stream.get()); }), kOtherContext, one.name,
                  one.name);
    expect_answer(contexts.run(Where::other, [&] { return one.call(default_stream()); }), ACL_SUCCESS,
                  one.name, one.name);
    const aclrtStream primary = default_stream();
    expect_answer(contexts.run(Where::other, [&] { return one.call(primary); }), kOtherContext, one.name,
                  one.name + " on the default stream of the other");
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

TEST_F(AsyncFunctions, M3_R11_NoContext_Is107002) {
  const Contexts contexts;
  Stream stream;
  for (const AsyncCalls::One& one : calls_->all()) {
    expect_answer(contexts.run(Where::none, [&] { return one.call(stream.get()); }), kNoContext, one.name,
                  one.name);
    if (one.null_is_default && one.name != "aclrtMemcpy2dAsync") {  // M-309
      expect_answer(contexts.run(Where::none, [&] { return one.call(nullptr); }), kNoContext, one.name,
                    one.name);
    }
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_TRUE(calls_->untouched()) << one.name;
  }
}

TEST_F(AsyncFunctions, M5_NothingToDo_Is0_EvenWithABadStreamAndWithoutAContext) {
  int garbage = 0;
  for (const AsyncCalls::One& one : calls_->all()) {
    if (!one.nothing) continue;
    EXPECT_EQ(one.nothing(&garbage), ACL_SUCCESS) << one.name;
    without_context([&] {
      EXPECT_EQ(one.nothing(&garbage), ACL_SUCCESS) << one.name;
      EXPECT_EQ(one.nothing(nullptr), ACL_SUCCESS) << one.name;
    });
  }
  EXPECT_EQ(last_error(), ACL_SUCCESS);
  EXPECT_TRUE(calls_->untouched());
}

TEST_F(AsyncFunctions, M5_NothingToDo_QueuesNothing) {
  Stream stream;
  for (const AsyncCalls::One& one : calls_->all()) {
    if (!one.nothing) continue;
    EXPECT_EQ(one.nothing(stream.get()), ACL_SUCCESS) << one.name;
  }
  EXPECT_TRUE(idle(stream));
}

TEST_F(AsyncFunctions, M12_M265_R16_TheCallReturnsAfterQueuing_TheEffectComesInStreamOrder) {
  for (const AsyncCalls::One& one : calls_->all()) {
    calls_->restore();
    Stream stream;
    EventGate hold{stream}, other_hold{default_stream()};
    EXPECT_EQ(one.call(stream.get()), ACL_SUCCESS) << one.name;
    EXPECT_TRUE(calls_->untouched()) << one.name;
    EXPECT_FALSE(idle(stream)) << one.name;
    hold.open();
    EXPECT_EQ(finish(stream), ACL_SUCCESS) << one.name;
    EXPECT_EQ(calls_->untouched(), !one.writes) << one.name;
  }
}

TEST_F(AsyncFunctions, M4_R13_NullIsTheDefaultStreamOfTheCurrentContext) {
  for (const AsyncCalls::One& one : calls_->all()) {
    calls_->restore();
    EventGate hold{default_stream()};
    EXPECT_EQ(one.call(nullptr), one.null_is_default ? ACL_SUCCESS : kBadArgument) << one.name;
    EXPECT_TRUE(calls_->untouched()) << one.name << ": it is not held";
    hold.open();
    EXPECT_EQ(finish(default_stream()), ACL_SUCCESS);
    EXPECT_EQ(calls_->untouched(), !one.writes || !one.null_is_default) << one.name;
  }
}

TEST_F(AsyncFunctions, M4_R13_NullIsNotTheDefaultStreamOfAnotherContext) {
  EventGate hold{default_stream()};
  const OwnContext context;
  for (const AsyncCalls::One& one : calls_->all()) {
    if (!one.null_is_default) continue;
    calls_->restore();
    EXPECT_EQ(one.call(nullptr), ACL_SUCCESS) << one.name;
    EXPECT_EQ(finish(default_stream()), ACL_SUCCESS) << one.name << ": this one is free";
    EXPECT_EQ(calls_->untouched(), !one.writes) << one.name;
  }
  context.leave();
}

TEST_F(AsyncFunctions, M11_R18_ManyThreadsQueueOnOneStream) {
  Stream stream;
  aclrtContext const context = current_context();
  std::vector<std::thread> threads;
  const std::vector<AsyncCalls::One> all = calls_->all();
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      EXPECT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      for (int round = 0; round < 20; ++round) {
        for (const AsyncCalls::One& one : all) {
          if (!one.writes) continue;
          EXPECT_EQ(one.call(stream.get()), ACL_SUCCESS) << one.name;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_FALSE(calls_->untouched());
}

TEST_F(AsyncFunctions, R134_DroppedTasksWriteNothing) {
  for (const AsyncCalls::One& one : calls_->all()) {
    calls_->restore();
    Stream stream;
    EventGate hold{stream};
    EXPECT_EQ(one.call(stream.get()), ACL_SUCCESS) << one.name;
    EXPECT_EQ(aclrtDestroyStreamForce(stream.forget()), ACL_SUCCESS) << one.name;
    hold.open();
    EXPECT_TRUE(calls_->untouched()) << one.name;
  }
}

TEST_F(AsyncFunctions, R133_DestroyingTheStreamWaitsForThem) {
  for (const AsyncCalls::One& one : calls_->all()) {
    calls_->restore();
    Stream stream;
    EXPECT_EQ(one.call(stream.get()), ACL_SUCCESS) << one.name;
    EXPECT_EQ(aclrtDestroyStream(stream.forget()), ACL_SUCCESS) << one.name;
    EXPECT_EQ(calls_->untouched(), !one.writes) << one.name;
  }
}

}  // namespace async_functions_test
