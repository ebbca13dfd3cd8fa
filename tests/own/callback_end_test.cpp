// Threads of callbacks end with their contexts, and the process ends beside callbacks under way.
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "support/callbacks.h"
#include "support/settings.h"
#include "support/streams.h"

namespace callback_end_test {

using namespace belay_test;

class CallbackThreads : public OnDevice {};

std::size_t threads_now() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) ++count;
  return count;
}

// Every context has a thread for its functions; it goes with the context.
TEST_F(CallbackThreads, R198_ThreadsGoWithTheirContexts) {
  Body body = [] {};
  EXPECT_EQ(launch(nullptr, body), ACL_SUCCESS);
  EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
  const std::size_t before = threads_now();
  for (int i = 0; i < 30; ++i) {
    const Elsewhere other;
    other.enter();
    EXPECT_EQ(launch(nullptr, body), ACL_SUCCESS);
    EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
    other.leave();
  }
  EXPECT_TRUE(eventually([before] { return threads_now() <= before + 4; }))
      << threads_now() << ": workers may have come, but not thirty";
}

// Holds a thread up wherever it is, as a machine does that has no processor for it.
void hold_up(std::thread& thread, std::chrono::milliseconds time) {
  static std::atomic<std::chrono::milliseconds> s_time;
  static std::atomic<bool> s_held;
  struct sigaction hold {
  }, before{};
  hold.sa_handler = [](int) {
    s_held = true;
    let_time_pass(s_time.load());
  };
  s_time = time;
  s_held = false;
  ::sigaction(SIGUSR1, &hold, &before);
  ::pthread_kill(thread.native_handle(), SIGUSR1);
  EXPECT_TRUE(eventually([] { return s_held.load(); }));
  ::sigaction(SIGUSR1, &before, nullptr);
}

bool is_asleep(pid_t task) {
  std::ifstream stat{"/proc/self/task/" + std::to_string(task) + "/stat"};
  const std::string text{std::istreambuf_iterator<char>{stat}, {}};
  return text.find(") S ") != std::string::npos;
}

// A context is destroyed while the thread that fetches its calls has no processor. Nothing moves then, which
// is no reason to give the work up.
TEST_F(CallbackThreads, R119_R195_WhoIsHeldUpInsideIsWaitedFor) {
  std::atomic<int> calls{0};
  Body body = [&] { ++calls; };
  std::atomic<pid_t> task{0};
  Signal subscribed;
  std::thread fetches([&] {
    EXPECT_TRUE(subscribed.wait());
    EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
    task = ::gettid();
    EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  });
  {
    const OwnContext destroyed;
    const aclrtStream stream = new_stream();
    EXPECT_EQ(aclrtSubscribeReport(static_cast<std::uint64_t>(fetches.native_handle()), stream), ACL_SUCCESS);
    subscribed.give();
    EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_TRUE(eventually([&] { return task != 0; }));
    let_time_pass(20ms);  // for it to come to its wait
    EXPECT_TRUE(eventually([&] { return is_asleep(task); }));
    hold_up(fetches, 2500ms);  // longer than anybody else is given
    EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
  }
  EXPECT_EQ(calls, 2);
  fetches.join();
}

TEST_F(CallbackThreads, R119_R195_WhoHasNotComeYetIsWaitedFor) {
  int calls = 0;
  Body body = [&] { ++calls; };
  Signal subscribed;
  std::thread fetches([&] {
    EXPECT_TRUE(subscribed.wait());
    let_time_pass(500ms);  // without a processor
    EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  });
  {
    const OwnContext destroyed;
    const aclrtStream stream = new_stream();
    EXPECT_EQ(aclrtSubscribeReport(static_cast<std::uint64_t>(fetches.native_handle()), stream), ACL_SUCCESS);
    EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
    subscribed.give();
  }
  fetches.join();
  EXPECT_EQ(calls, 1);
}

TEST_F(CallbackThreads, R119_R195_WhoDestroysDoesNotWaitForItself) {
  int calls = 0;
  Body body = [&] { ++calls; };
  {
    const OwnContext destroyed;
    const aclrtStream stream = new_stream();
    EXPECT_EQ(aclrtSubscribeReport(this_thread(), stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtProcessReport(1), kNothingToReport);
    EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
  }
  EXPECT_EQ(calls, 0);
}

// A function that still runs when its stream is destroyed may use a block that the program frees meanwhile:
// that must not become another block's memory before it returns.
TEST_F(CallbackThreads, R134_M117_AFreedBlockIsNotReusedWhileAFunctionOfADestroyedStreamRuns) {
  for (const bool fetched : {false, true}) {
    SCOPED_TRACE(fetched ? "aclrtLaunchCallback, without blocking" : "aclrtLaunchHostFunc");
    const aclrtStream stream = new_stream();
    Signal entered, may_write, subscribed;
    Device block{4096};
    void* const freed = block.get();
    std::atomic<int> answer{-1};
    Body body = [&] {
      entered.give();
      EXPECT_TRUE(may_write.wait());
      const Bytes late(4096, 0x66);
      answer = ::aclrtMemcpy(freed, 4096, late.data(), 4096, ACL_MEMCPY_HOST_TO_DEVICE);
    };
    std::thread fetches;
    if (fetched) {
      fetches = std::thread([&] {
        EXPECT_TRUE(subscribed.wait());
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      });
      EXPECT_EQ(aclrtSubscribeReport(static_cast<std::uint64_t>(fetches.native_handle()), stream),
                ACL_SUCCESS);
      EXPECT_EQ(launch_callback(stream, body, ACL_CALLBACK_NO_BLOCK), ACL_SUCCESS);
      subscribed.give();
      EXPECT_TRUE(entered.wait());
    } else {
      EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
      EXPECT_TRUE(entered.wait());
    }
    EXPECT_EQ(aclrtDestroyStreamForce(stream), ACL_SUCCESS);
    block.free_now();
    std::vector<std::unique_ptr<Device>> others;
    for (int i = 0; i < 100; ++i) {
      others.push_back(std::make_unique<Device>(4096));
      EXPECT_NE(others.back()->get(), freed);
      write_to(others.back()->get(), Bytes(4096, 1));
    }
    may_write.give();
    EXPECT_TRUE(eventually([&] { return answer != -1; }));
    EXPECT_NE(answer, ACL_SUCCESS) << "no block is there";
    for (const auto& other : others) EXPECT_EQ(read_from(other->get(), 4096), Bytes(4096, 1));
    if (fetches.joinable()) fetches.join();
    // When it has returned, addresses are given out again as ever.
    EXPECT_TRUE(eventually([] {
      const void* const before = Device{4096}.free_now();
      return Device{4096}.get() == before;
    }));
  }
}

// The process ends though a function does not, a thread waits for reports and streams are held.
TEST(CallbackExit, R45_R67_EndingWithCallbacksUnderWay) {
  for (const char* const schedule : {"eager", "fifo", "lazy", "seed:5"}) {
    SCOPED_TRACE(schedule);
    const Ending ending = run_captured({{"BELAY_SCHEDULE", schedule}}, [] {
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      static aclrtStream fetched = nullptr, called = nullptr, held = nullptr;
      for (aclrtStream* const stream : {&fetched, &called, &held})
        EXPECT_EQ(::aclrtCreateStream(stream), ACL_SUCCESS);
      static Signal entered, never;
      static Body stuck = [] {
        entered.give();
        for (;;) ::pause();
      };
      static Signal subscribed;
      std::thread{[] {
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclrtSubscribeReport(this_thread(), fetched), ACL_SUCCESS);
        subscribed.give();
        aclrtProcessReport(-1);
      }}.detach();
      EXPECT_TRUE(subscribed.wait());
      aclrtNotify notify = nullptr;
      EXPECT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
      EXPECT_EQ(aclrtWaitAndResetNotify(notify, held, 0), ACL_SUCCESS);
      EXPECT_EQ(launch(called, stuck), ACL_SUCCESS);
      EXPECT_TRUE(entered.wait());
      std::exit(::testing::Test::HasFailure() ? 1 : 0);
    });
    EXPECT_TRUE(ending.clean()) << ending;
  }
}

}  // namespace callback_end_test
