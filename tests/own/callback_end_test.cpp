// Threads of callbacks end with their contexts, and the process ends beside callbacks under way.
#include <unistd.h>

#include <filesystem>

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
