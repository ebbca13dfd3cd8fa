// Functions of the program that the runtime calls in the order of a stream.
#include <map>
#include <stdexcept>

#include "support/callbacks.h"
#include "support/captured_process.h"
#include "support/gates.h"
#include "support/refusals.h"

namespace host_function_test {

using namespace belay_test;

class HostFunction : public OnDevice {};

void nothing(void*) {}

TEST_F(HostFunction, R198_Refusals) {
  Stream stream, gone;
  const Event event{Kind::plain};
  const Elsewhere other, other_device{1};
  const std::string api = "aclrtLaunchHostFunc";
  expect_stored(aclrtLaunchHostFunc(stream, nullptr, nullptr), kBadValue, api);
  expect_stored(aclrtLaunchHostFunc(nullptr, nullptr, nullptr), kBadValue, api);
  std::vector<void*> wrong = garbage();
  wrong.push_back(gone.destroy_now());
  wrong.push_back(event);
  for (void* const handle : wrong) expect_stored(aclrtLaunchHostFunc(handle, nothing, nullptr), kStale, api);
  for (const Elsewhere* const elsewhere : {&other, &other_device})
    expect_stored(aclrtLaunchHostFunc(elsewhere->stream(), nothing, nullptr), kOtherContext, api);
  without_context([&] {
    expect_stored(aclrtLaunchHostFunc(stream, nothing, nullptr), kNoContext, api);
    expect_stored(aclrtLaunchHostFunc(nullptr, nothing, nullptr), kNoContext, api);
  });
  EXPECT_TRUE(idle(stream));
  EXPECT_EQ(aclrtSubscribeReport(this_thread(), stream), ACL_SUCCESS)
      << "a refused launch does not decide what the stream is for";
  expect_stored(aclrtLaunchHostFunc(stream, nothing, nullptr), kSubscribed, api);
  EXPECT_EQ(aclrtUnSubscribeReport(this_thread(), stream), ACL_SUCCESS);
}

TEST_F(HostFunction, R198_IsCalledOnceWithItsArgument) {
  Stream stream;
  int calls = 0;
  EXPECT_EQ(aclrtLaunchHostFunc(
                stream, [](void* argument) { ++*static_cast<int*>(argument); }, &calls),
            ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(calls, 1);
  static int with_null = 0;
  EXPECT_EQ(aclrtLaunchHostFunc(
                stream, [](void* argument) { with_null += argument == nullptr ? 1 : 100; }, nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(with_null, 1);
}

TEST_F(HostFunction, R198_R13_NullIsTheDefaultStream) {
  aclrtStream primary = nullptr;
  EXPECT_EQ(aclrtCtxGetCurrentDefaultStream(&primary), ACL_SUCCESS);
  NotifyGate gate;
  gate.hold(primary);
  bool called = false;
  Body body = [&] { called = true; };
  EXPECT_EQ(launch(nullptr, body), ACL_SUCCESS);
  expect_held(nullptr);
  EXPECT_FALSE(called);
  gate.open();
  EXPECT_EQ(finish(primary), ACL_SUCCESS);
  EXPECT_TRUE(called);
}

// A thread of the runtime calls them, one thread for all streams of a context.
TEST_F(HostFunction, R198_OneThreadPerContext) {
  Stream one, two;
  const Elsewhere other;
  const aclrtStream theirs = other.stream();
  std::map<int, std::thread::id> threads;
  std::mutex mutex;
  std::vector<Body> bodies;
  for (int i = 0; i < 7; ++i) {
    bodies.emplace_back([&, i] {
      const std::lock_guard lock{mutex};
      threads[i] = std::this_thread::get_id();
    });
  }
  for (std::size_t i = 0; i < 6; ++i) {
    const aclrtStream where[] = {one, two, nullptr};
    EXPECT_EQ(launch(where[i % 3], bodies[i]), ACL_SUCCESS);
    EXPECT_EQ(finish(where[i % 3]), ACL_SUCCESS);
  }
  other.enter();
  EXPECT_EQ(launch(theirs, bodies[6]), ACL_SUCCESS);
  EXPECT_EQ(finish(theirs), ACL_SUCCESS);
  other.leave();
  ASSERT_EQ(threads.size(), 7U);
  for (int i = 0; i < 6; ++i) EXPECT_EQ(threads[i], threads[0]);
  EXPECT_NE(threads[6], threads[0]);
  EXPECT_NE(threads[0], std::this_thread::get_id());
  EXPECT_NE(threads[6], std::this_thread::get_id());
}

TEST_F(HostFunction, R198_InStreamOrder) {
  Stream stream;
  const Device block{64};
  const Pinned host{64};
  std::memset(host.get(), 0, 64);
  std::vector<int> seen;
  Body body = [&] { seen.push_back(*at(host.get(), 0)); };
  for (int i = 1; i <= 30; ++i) {
    EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, i, 64, stream), ACL_SUCCESS);
    EXPECT_EQ(::aclrtMemcpyAsync(host.get(), 64, block.get(), 64, ACL_MEMCPY_DEVICE_TO_HOST, stream),
              ACL_SUCCESS);
    EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  }
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  ASSERT_EQ(seen.size(), 30U);
  for (int i = 0; i < 30; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i + 1);
}

TEST_F(HostFunction, R198_TheStreamIsHeldUntilItReturns) {
  Stream stream;
  const Device block{64};
  write_to(block.get(), Bytes(64, 1));
  const Event after{Kind::plain};
  Signal entered, leave;
  Body body = [&] {
    entered.give();
    EXPECT_TRUE(leave.wait());
  };
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS) << "the caller does not wait";
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 2, 64, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(after, stream), ACL_SUCCESS);
  EXPECT_TRUE(entered.wait());
  expect_held(stream);
  EXPECT_FALSE(idle(stream));
  EXPECT_EQ(recorded(after), kNotReady);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 1));
  leave.give();
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(recorded(after), kComplete);
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 2));
}

TEST_F(HostFunction, R198_AcrossStreamsThroughEvents) {
  Stream first, second;
  const Event event{Kind::ex};
  Journal journal;
  Body one = [&] { journal.note(1); }, two = [&] { journal.note(2); };
  std::vector<int> expected;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(launch(first, one), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, first), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(second, event), ACL_SUCCESS);
    EXPECT_EQ(launch(second, two), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, second), ACL_SUCCESS);
    EXPECT_EQ(::aclrtStreamWaitEvent(first, event), ACL_SUCCESS);
    expected.push_back(1);
    expected.push_back(2);
  }
  EXPECT_EQ(finish(second), ACL_SUCCESS);
  EXPECT_EQ(journal.entries(), expected);
}

// Waiting for a side effect without the library works too.
TEST_F(HostFunction, R198_IsReachedThoughNobodyAsks) {
  Stream stream;
  const Device block{64};
  Signal called;
  Body body = [&] { called.give(); };
  EXPECT_EQ(::aclrtMemsetAsync(block.get(), 64, 2, 64, stream), ACL_SUCCESS);
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  EXPECT_TRUE(called.wait());
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
}

TEST_F(HostFunction, R200_MemoryCallsInside) {
  Stream stream;
  const Device outer{64};
  std::vector<int> answers;
  Bytes seen;
  Body body = [&] {
    void *block = nullptr, *host = nullptr;
    std::size_t free = 0, total = 0;
    answers.push_back(::aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
    answers.push_back(::aclrtMallocHost(&host, 4096));
    answers.push_back(::aclrtMemset(block, 4096, 6, 4096));
    answers.push_back(::aclrtMemcpy(host, 4096, block, 4096, ACL_MEMCPY_DEVICE_TO_HOST));
    answers.push_back(::aclrtMemcpy(outer.get(), 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE));
    answers.push_back(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    seen.assign(at(host, 0), at(host, 4096));
    answers.push_back(aclrtFreeHost(host));
    answers.push_back(aclrtFree(block));
  };
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(answers, std::vector<int>(8, ACL_SUCCESS));
  EXPECT_EQ(seen, Bytes(4096, 6));
  EXPECT_EQ(read_from(outer.get(), 64), Bytes(64, 6));
}

// The documents forbid it. Here it works; a checker may say so.
TEST_F(HostFunction, R200_SubmittingInside) {
  Stream stream, other;
  const Device block{64}, block_of_other{64};
  std::vector<int> answers;
  Body body = [&] {
    answers.push_back(::aclrtMemsetAsync(block.get(), 64, 3, 64, stream));
    answers.push_back(::aclrtMemsetAsync(block_of_other.get(), 64, 4, 64, other));
  };
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS) << "what it queued came after the first call";
  EXPECT_EQ(finish(other), ACL_SUCCESS);
  EXPECT_EQ(answers, std::vector<int>(2, ACL_SUCCESS));
  EXPECT_EQ(read_from(block.get(), 64), Bytes(64, 3));
  EXPECT_EQ(read_from(block_of_other.get(), 64), Bytes(64, 4));
}

// All of these would wait for the function that calls them.
TEST_F(HostFunction, R143_R200_WaitingForItselfIsDetected) {
  Stream stream;
  const Device block{64};
  const Event behind{Kind::plain};
  void* to_free = nullptr;
  ASSERT_EQ(::aclrtMalloc(&to_free, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  std::uint8_t pageable[64] = {1};
  struct Call {
    std::string api;
    std::function<int()> call;
    int answer;
    std::string text;
  };
  std::vector<Call> calls = {
      {"aclrtSynchronizeStream", [&] { return ::aclrtSynchronizeStream(stream); }, -1, ""},
      {"aclrtSynchronizeStreamWithTimeout", [&] { return ::aclrtSynchronizeStreamWithTimeout(stream, 1000); },
       -1, ""},
      {"aclrtSynchronizeDevice", [] { return ::aclrtSynchronizeDevice(); }, -1, ""},
      {"aclrtSynchronizeDeviceWithTimeout", [] { return ::aclrtSynchronizeDeviceWithTimeout(1000); }, -1, ""},
      {"aclrtSynchronizeEvent", [&] { return ::aclrtSynchronizeEvent(behind); }, -1, ""},
      {"aclrtSynchronizeEventWithTimeout", [&] { return ::aclrtSynchronizeEventWithTimeout(behind, 1000); },
       -1, ""},
      {"aclrtMemcpyAsync",
       [&] { return ::aclrtMemcpyAsync(block.get(), 64, pageable, 64, ACL_MEMCPY_HOST_TO_DEVICE, stream); },
       -1, ""},
      {"aclrtDestroyStream", [&] { return aclrtDestroyStream(stream); }, -1, ""},
      {"aclrtFreeWithDevSync", [&] { return aclrtFreeWithDevSync(to_free); }, -1, ""},
      {"aclrtResetDevice", [] { return aclrtResetDevice(0); }, -1, ""},
  };
  Signal queued;
  Body body = [&] {
    EXPECT_TRUE(queued.wait());
    for (Call& call : calls) {
      recent_message();
      call.answer = call.call();
      call.text = recent_message();
    }
  };
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(behind, stream), ACL_SUCCESS);
  queued.give();
  EXPECT_EQ(finish(stream), ACL_SUCCESS) << "nothing hangs, and the stream is still there";
  for (const Call& call : calls) {
    EXPECT_EQ(call.answer, kInternal) << call.api;
    EXPECT_TRUE(mentions(call.text, call.api)) << call.api << " is missing in: " << call.text;
  }
  EXPECT_EQ(recorded(behind), kComplete);
  EXPECT_EQ(aclrtFree(to_free), ACL_SUCCESS) << "it was not freed";
}

TEST_F(HostFunction, R143_DestroyingTheOwnContextIsDetected) {
  const Elsewhere other;
  const aclrtStream stream = other.stream();
  other.enter();
  int answer = -1;
  Body body = [&] { answer = aclrtDestroyContext(other.get()); };
  EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
  EXPECT_EQ(finish(stream), ACL_SUCCESS);
  EXPECT_EQ(answer, kInternal);
  aclrtContext current = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&current), ACL_SUCCESS);
  EXPECT_EQ(current, other.get()) << "it lives";
  other.leave();
}

TEST_F(HostFunction, R201_TheContextOfTheStreamIsCurrent) {
  struct Seen {
    aclrtContext context = nullptr;
    std::int32_t device = -1;
  };
  const Elsewhere here, there{1};
  for (const Elsewhere* const elsewhere : {&here, &there}) {
    for (const bool by_default : {false, true}) {
      const aclrtStream stream = elsewhere->stream();
      elsewhere->enter();
      for (int round = 0; round < 3; ++round) {
        Seen seen;
        Body body = [&] {
          EXPECT_EQ(aclrtGetCurrentContext(&seen.context), ACL_SUCCESS);
          EXPECT_EQ(aclrtGetDevice(&seen.device), ACL_SUCCESS);
          // Whatever it binds is gone when the next one is called.
          EXPECT_EQ(aclrtSetCurrentContext((elsewhere == &here ? there : here).get()), ACL_SUCCESS);
        };
        EXPECT_EQ(launch(by_default ? nullptr : stream, body), ACL_SUCCESS);
        EXPECT_EQ(finish(by_default ? nullptr : stream), ACL_SUCCESS);
        EXPECT_EQ(seen.context, elsewhere->get());
        EXPECT_EQ(seen.device, elsewhere == &here ? 0 : 1);
      }
      elsewhere->leave();
    }
  }
  aclrtContext primary = nullptr, seen = nullptr;
  EXPECT_EQ(aclrtGetCurrentContext(&primary), ACL_SUCCESS);
  Body body = [&] { EXPECT_EQ(aclrtGetCurrentContext(&seen), ACL_SUCCESS); };
  EXPECT_EQ(launch(nullptr, body), ACL_SUCCESS);
  EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
  EXPECT_EQ(seen, primary);
}

// Each in a child: the program ends, and says why before.
TEST(HostFunctionException, R202_AHostFunctionThatThrows) {
  for (const bool of_the_library : {true, false}) {
    const Ending ending = run_captured([of_the_library] {
      try {
        ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        Body body = [of_the_library] {
          if (of_the_library) throw std::runtime_error("burst pipe");
          throw 42;
        };
        EXPECT_EQ(launch(nullptr, body), ACL_SUCCESS);
        finish(nullptr);
      } catch (...) {
      }
      ::_exit(3);
    });
    EXPECT_TRUE(ending.killed_by(SIGABRT)) << ending;
    EXPECT_TRUE(mentions(ending.err, "exception")) << ending;
    EXPECT_TRUE(mentions(ending.err, "callback") || mentions(ending.err, "host func")) << ending;
    if (of_the_library) {
      EXPECT_TRUE(mentions(ending.err, "burst pipe")) << ending;
    }
  }
}

TEST(HostFunctionException, R202_ACallbackThatThrows) {
  const Ending ending = run_captured([] {
    try {
      ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      Body body = [] { throw std::runtime_error("burst pipe"); };
      EXPECT_EQ(aclrtSubscribeReport(this_thread(), nullptr), ACL_SUCCESS);
      EXPECT_EQ(launch_callback(nullptr, body), ACL_SUCCESS);
      aclrtProcessReport(30000);
    } catch (...) {
    }
    ::_exit(3);
  });
  EXPECT_TRUE(ending.killed_by(SIGABRT)) << ending;
  EXPECT_TRUE(mentions(ending.err, "exception") && mentions(ending.err, "callback")) << ending;
  EXPECT_TRUE(mentions(ending.err, "burst pipe")) << ending;
}

// pthread_exit unwinds the thread like an exception, and is told apart from one.
void expect_told_of_the_end(const std::function<void()>& body, const char* whose) {
  const Ending ending = run_captured([&body] {
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    body();
    ::_exit(3);
  });
  EXPECT_TRUE(ending.killed_by(SIGABRT)) << ending;
  EXPECT_TRUE(mentions(ending.err, whose)) << ending;
  EXPECT_TRUE(mentions(ending.err, "pthread_exit") && mentions(ending.err, "return from the callback"))
      << ending;
  EXPECT_FALSE(mentions(ending.err, "exception of an unknown type")) << ending;
}

TEST(HostFunctionEndsItsThread, R202_AHostFunction) {
  expect_told_of_the_end(
      [] {
        Body body = [] { ::pthread_exit(nullptr); };
        EXPECT_EQ(launch(nullptr, body), ACL_SUCCESS);
        finish(nullptr);
      },
      "callback of stream");
}

TEST(HostFunctionEndsItsThread, R202_ASubscribedCallback) {
  expect_told_of_the_end(
      [] {
        Body body = [] { ::pthread_exit(nullptr); };
        EXPECT_EQ(aclrtSubscribeReport(this_thread(), nullptr), ACL_SUCCESS);
        EXPECT_EQ(launch_callback(nullptr, body), ACL_SUCCESS);
        aclrtProcessReport(30000);
      },
      "callback of stream");
}

TEST(HostFunctionEndsItsThread, R202_ACallbackOfACall) {
  expect_told_of_the_end(
      [] {
        const aclInitCallbackFunc ends = [](const char*, std::size_t, void*) -> aclError {
          ::pthread_exit(nullptr);
        };
        EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, ends, nullptr), ACL_SUCCESS);
        std::thread([] { (void)aclInit(nullptr); }).join();
      },
      "callback that aclInit called");
  expect_told_of_the_end(
      [] {
        const aclrtStreamStateCallback ends = [](aclrtStream, aclrtStreamState, void*) {
          ::pthread_exit(nullptr);
        };
        EXPECT_EQ(aclrtRegStreamStateCallback("ends", ends, nullptr), ACL_SUCCESS);
        aclrtStream stream = nullptr;
        (void)::aclrtCreateStream(&stream);
      },
      "callback that aclrtCreateStream called");
}

TEST(HostFunctionEndsItsThread, R202_R226_AnExceptionInfoCallback) {
  expect_told_of_the_end(
      [] {
        EXPECT_EQ(aclrtSetExceptionInfoCallback([](aclrtExceptionInfo*) { ::pthread_exit(nullptr); }),
                  ACL_SUCCESS);
        void* block = nullptr;
        ASSERT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
        HostGate gate;
        aclrtStream stream = nullptr;
        ASSERT_EQ(::aclrtCreateStream(&stream), ACL_SUCCESS);
        gate.hold_and_enter(stream);
        ASSERT_EQ(aclrtMemsetAsync(block, 64, 1, 64, stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtFree(block), ACL_SUCCESS);
        gate.open();
        (void)::aclrtSynchronizeStream(stream);
      },
      "exception-info callback");
}

TEST_F(HostFunction, R198_R18_ManyThreadsLaunch) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      {
        Stream stream;
        std::vector<int> order;
        std::vector<Body> bodies;
        for (int i = 0; i < 100; ++i) bodies.emplace_back([&order, i] { order.push_back(i); });
        for (Body& body : bodies) EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
        EXPECT_EQ(finish(stream), ACL_SUCCESS);
        EXPECT_EQ(order.size(), 100U);
        EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
      }
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace host_function_test
