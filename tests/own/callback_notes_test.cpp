// What is survived but hardly meant is said in the log, where warnings are wanted.
#include "support/callbacks.h"
#include "support/events.h"
#include "support/log_lines.h"
#include "support/settings.h"
#include "support/streams.h"

namespace callback_notes_test {

using namespace belay_test;

// The warnings of the runtime that name the rule, from a process that runs the body with a device.
std::size_t warnings(const std::string& level, const std::string& rule, const std::function<void()>& body) {
  const Scratch scratch;
  const Ending ending =
      run_captured({{"ASCEND_GLOBAL_LOG_LEVEL", level},
                    {"ASCEND_LOG_PRINT_TO_STDOUT", "1"},
                    {"ASCEND_PROCESS_LOG_PATH", scratch.path().string()}},
                   [&body] {
                     EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);  // or that would be said
                     ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
                     body();
                     EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
                   });
  EXPECT_TRUE(ending.clean()) << ending;
  std::size_t count = 0;
  for (const LogLine& line : log_lines(ending.out, "RUNTIME")) {
    if (line.level == "WARNING" && line.text.find(rule) != std::string::npos) ++count;
  }
  return count;
}

void expect_said(const std::string& rule, std::size_t times, const std::function<void()>& body) {
  EXPECT_EQ(warnings("2", rule, body), times) << rule;
  EXPECT_EQ(warnings("3", rule, body), 0U) << rule << " though only errors are wanted";
}

TEST(CallbackNotes, R168_ResettingAPlainEvent) {
  expect_said("R-168", 2, [] {
    const Event plain{Kind::plain}, flagged{Kind::flagged};
    EXPECT_EQ(aclrtResetEvent(plain, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetEvent(flagged, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetEvent(plain, nullptr), ACL_SUCCESS);
    EXPECT_EQ(finish(nullptr), ACL_SUCCESS);
  });
}

TEST(CallbackNotes, R191_CallbacksThatAreDropped) {
  expect_said("R-191", 2, [] {
    Stream stream;
    Body body = [] { ADD_FAILURE() << "it was dropped"; };
    EXPECT_EQ(aclrtSubscribeReport(this_thread(), stream), ACL_SUCCESS);
    EXPECT_EQ(launch_callback(stream, body, ACL_CALLBACK_NO_BLOCK), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);  // one is ready to be fetched,
    EXPECT_EQ(launch_callback(stream, body), ACL_SUCCESS);
    EXPECT_EQ(aclrtUnSubscribeReport(this_thread(), stream), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);  // the other may not be
  });
}

TEST(CallbackNotes, R200_SubmittingInsideACallback) {
  expect_said("R-200", 1, [] {
    Stream stream, other;
    const Notify notify;
    Body body = [&] { EXPECT_EQ(aclrtRecordNotify(notify, other), ACL_SUCCESS); };
    EXPECT_EQ(launch(stream, body), ACL_SUCCESS);
    EXPECT_EQ(finish(stream), ACL_SUCCESS);
    EXPECT_EQ(finish(other), ACL_SUCCESS);
  });
}

TEST(CallbackNotes, R193_R198_NothingIsSaidOfProperUse) {
  EXPECT_EQ(warnings("2", "R-",
                     [] {
                       Stream fetched, called;
                       const Event event{Kind::flagged};
                       int calls = 0;
                       Body body = [&] { ++calls; };
                       EXPECT_EQ(aclrtSubscribeReport(this_thread(), fetched), ACL_SUCCESS);
                       EXPECT_EQ(launch_callback(fetched, body), ACL_SUCCESS);
                       EXPECT_EQ(aclrtProcessReport(30000), ACL_SUCCESS);
                       EXPECT_EQ(finish(fetched), ACL_SUCCESS);
                       EXPECT_EQ(aclrtUnSubscribeReport(this_thread(), fetched), ACL_SUCCESS);
                       EXPECT_EQ(launch(called, body), ACL_SUCCESS);
                       EXPECT_EQ(aclrtRecordEvent(event, called), ACL_SUCCESS);
                       EXPECT_EQ(aclrtResetEvent(event, called), ACL_SUCCESS);
                       EXPECT_EQ(finish(called), ACL_SUCCESS);
                       EXPECT_EQ(calls, 2);
                     }),
            0U);
}

}  // namespace callback_notes_test
