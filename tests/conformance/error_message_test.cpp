// Fetching error messages: whose they are, how long they last, which one is on top.
#include <cstdint>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/device_fixture.h"
#include "support/fresh_process.h"
#include "support/scratch.h"
#include "support/worker.h"

namespace error_message_test {

using belay_test::in_fresh_process;
using belay_test::on_new_thread;
using belay_test::recent_message;
using belay_test::Scratch;
using belay_test::Worker;

const std::string kTraceBack = "TraceBack (most recent call last):";

bool has(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::size_t lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::size_t count = 0;
  for (std::string line; std::getline(stream, line);) ++count;
  return count;
}

class ErrorMessage : public belay_test::OnDevice {};

TEST_F(ErrorMessage, R212_NothingCollectedIsNull) {
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  std::int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(ErrorMessage, R212_FetchingClears) {
  EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID);
  const char* const text = aclGetRecentErrMsg();
  ASSERT_NE(text, nullptr);
  EXPECT_TRUE(has(text, "-4711")) << text;
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(ErrorMessage, R212_EveryThreadHasItsOwn) {
  Worker other;
  EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_TRUE(other.ask([] { return aclGetRecentErrMsg() == nullptr; }));
  EXPECT_EQ(other.ask([] { return aclrtSetDevice(-815); }), ACL_ERROR_RT_INVALID_DEVICEID);
  const std::string mine = recent_message();
  EXPECT_TRUE(has(mine, "-4711")) << mine;
  EXPECT_FALSE(has(mine, "-815")) << mine;
  const std::string theirs = other.ask([] { return recent_message(); });
  EXPECT_TRUE(has(theirs, "-815")) << theirs;
  EXPECT_FALSE(has(theirs, "-4711")) << theirs;
  EXPECT_FALSE(has(mine, "[THREAD:")) << mine;
}

TEST_F(ErrorMessage, R213_ValidUntilTheNextCallOnTheThread) {
  EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID);
  const char* const text = aclGetRecentErrMsg();
  ASSERT_NE(text, nullptr);
  const std::string copy = text;
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(aclrtSetDevice(-1 - i), ACL_ERROR_RT_INVALID_DEVICEID);
  on_new_thread([] {
    EXPECT_EQ(aclrtSetDevice(99), ACL_ERROR_RT_INVALID_DEVICEID);
    EXPECT_NE(aclGetRecentErrMsg(), nullptr);
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  });
  EXPECT_EQ(copy, text) << "new failures and other threads do not disturb it";
}

TEST_F(ErrorMessage, R214_R219_TheFirstIsTheHeadline) {
  EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetDevice(4712), ACL_ERROR_RT_INVALID_DEVICEID);
  const std::string text = recent_message();
  EXPECT_TRUE(has(first_line(text), "(EL0002)")) << text;
  EXPECT_TRUE(has(first_line(text), "-4711")) << text;
  const std::size_t heading = text.find(kTraceBack);
  ASSERT_NE(heading, std::string::npos) << text;
  const std::string below = text.substr(heading);
  EXPECT_TRUE(has(below, "EH0002") || has(below, "EH0008")) << text;
  EXPECT_TRUE(has(below, "4712")) << text;
  EXPECT_FALSE(has(text.substr(0, heading), "4712")) << text;
  EXPECT_EQ(text.find(kTraceBack, heading + 1), std::string::npos) << "one heading: " << text;
}

TEST_F(ErrorMessage, R214_TheOtherOrderGivesTheOtherHeadline) {
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID);
  const std::string text = recent_message();
  EXPECT_TRUE(has(first_line(text), "(EH0002)") || has(first_line(text), "(EH0008)")) << text;
  EXPECT_TRUE(has(text.substr(text.find('\n') + 1), "-4711")) << text;
}

TEST_F(ErrorMessage, R215_SuccessesDoNotClear) {
  EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  std::int32_t device = -1;
  EXPECT_EQ(aclrtGetDevice(&device), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(-815), ACL_ERROR_RT_INVALID_DEVICEID);
  const std::string text = recent_message();
  EXPECT_TRUE(has(text, "-4711")) << text;
  EXPECT_TRUE(has(text, "-815")) << text;
}

TEST_F(ErrorMessage, R215_AtMost1000LinesTheOldestGoFirst) {
  for (std::int32_t i = 0; i < 3000; ++i)
    EXPECT_EQ(aclrtSetDevice(-100000 - i), ACL_ERROR_RT_INVALID_DEVICEID);
  const std::string text = recent_message();
  EXPECT_LE(lines_of(text), 1000U);
  EXPECT_GT(lines_of(text), 100U);
  EXPECT_TRUE(has(text, "-102999")) << "the newest is kept";
  EXPECT_TRUE(has(text, "-102900"));
  EXPECT_FALSE(has(text, "-100010")) << "the oldest went";
  EXPECT_FALSE(has(text, "-100500"));
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(ErrorMessage, R216_TextAndLastErrorAreIndependent) {
  EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(aclrtGetDevice(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  EXPECT_NE(aclGetRecentErrMsg(), nullptr) << "a text without a stored error";
}

// With err_msg_mode "1" there is one collection for the process.
void in_process_mode(const std::function<void()>& body) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", R"({"err_msg_mode": "1"})");
  in_fresh_process([&] {
    ASSERT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
    aclGetRecentErrMsg();
    body();
  });
}

TEST(ProcessMode, R212_AnyThreadFetchesTheTextOfAll) {
  in_process_mode([] {
    on_new_thread([] { EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID); });
    on_new_thread([] { EXPECT_EQ(aclrtSetDevice(-815), ACL_ERROR_RT_INVALID_DEVICEID); });
    const std::string text = recent_message();
    EXPECT_TRUE(has(text, "-4711")) << text;
    EXPECT_TRUE(has(text, "-815")) << text;
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
    on_new_thread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr); });
  });
}

TEST(ProcessMode, R213_ValidUntilTheNextFetchInTheProcess) {
  in_process_mode([] {
    EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID);
    const char* const text = aclGetRecentErrMsg();
    ASSERT_NE(text, nullptr);
    const std::string copy = text;
    on_new_thread([] {
      for (int i = 0; i < 100; ++i) EXPECT_EQ(aclrtSetDevice(-1 - i), ACL_ERROR_RT_INVALID_DEVICEID);
    });
    EXPECT_EQ(copy, text) << "new failures do not disturb it";
  });
}

TEST(ProcessMode, R218_MessagesNameTheirThread) {
  in_process_mode([] {
    on_new_thread([] { EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID); });
    EXPECT_EQ(aclrtSetDevice(-815), ACL_ERROR_RT_INVALID_DEVICEID);
    const std::string text = recent_message();
    const std::regex mark("\\[THREAD:\\s?([0-9]+)\\]");
    std::vector<std::string> threads;
    for (std::sregex_iterator i(text.begin(), text.end(), mark), end; i != end; ++i)
      threads.push_back((*i)[1]);
    ASSERT_GE(threads.size(), 2U) << text;
    EXPECT_NE(threads.front(), threads.back()) << text;
  });
}

TEST(ProcessMode, R212_ModeZeroIsTheThreadMode) {
  const Scratch scratch;
  const std::string file = scratch.write("acl.json", R"({"err_msg_mode": "0"})");
  in_fresh_process([&] {
    ASSERT_EQ(aclInit(file.c_str()), ACL_SUCCESS);
    on_new_thread([] { EXPECT_EQ(aclrtSetDevice(-4711), ACL_ERROR_RT_INVALID_DEVICEID); });
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  });
}

TEST(ProcessMode, R212_R18_NoMessageIsLostOrDoubled) {
  in_process_mode([] {
    constexpr int kThreads = 8, kEach = 20;
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([i] {
        for (int n = 0; n < kEach; ++n) aclrtSetDevice(-(10000 + i * 100 + n));
      });
    }
    for (std::thread& thread : threads) thread.join();
    const std::string text = recent_message();
    for (int i = 0; i < kThreads; ++i) {
      for (int n = 0; n < kEach; ++n) {
        const std::string value = "-" + std::to_string(10000 + i * 100 + n);
        EXPECT_TRUE(has(text, value)) << value << " is missing";
      }
    }
  });
}

}  // namespace error_message_test
