// The log of an application.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "support/as_enum.h"
#include "support/device_fixture.h"
#include "support/log_lines.h"
#include "support/scratch.h"
#include "support/settings.h"

namespace app_log_test {

using belay_test::as_enum;
using belay_test::Ending;
using belay_test::log_lines;
using belay_test::LogLine;
using belay_test::run_captured;
using belay_test::Scratch;
using belay_test::Settings;
using belay_test::text_below;

std::string thread_id() { return std::to_string(::syscall(SYS_gettid)); }

// What a fresh process prints under APP when the log goes to its standard output.
std::vector<LogLine> app_lines(const Settings& more, const std::function<void()>& body) {
  const Scratch scratch;
  Settings settings = {{"ASCEND_LOG_PRINT_TO_STDOUT", "1"},
                       {"ASCEND_PROCESS_LOG_PATH", scratch.path().string()}};
  settings.insert(settings.end(), more.begin(), more.end());
  const Ending ending = run_captured(settings, body);
  EXPECT_TRUE(ending.clean()) << ending;
  return log_lines(ending.out, "APP");
}

const Settings kEverything = {{"ASCEND_GLOBAL_LOG_LEVEL", "0"}};

TEST(AppLog, R237_NullTextsAreIgnored) {
  const auto lines = app_lines(kEverything, [] {
    aclAppLog(ACL_ERROR, nullptr, "file", 1, "text");
    aclAppLog(ACL_ERROR, "func", nullptr, 1, "text");
    aclAppLog(ACL_ERROR, "func", "file", 1, nullptr);
  });
  EXPECT_TRUE(lines.empty());
}

TEST(AppLog, R237_LevelsOutsideTheEnumAreIgnored) {
  const auto lines = app_lines(kEverything, [] {
    for (const int level : {4, 5, 100, -1}) aclAppLog(as_enum<aclLogLevel>(level), "func", "file", 1, "text");
  });
  EXPECT_TRUE(lines.empty());
}

TEST(AppLog, R237_R252_LevelsBelowTheActiveOneAreIgnored) {
  const std::vector<std::string> names = {"DEBUG", "INFO", "WARNING", "ERROR"};
  for (int active = 0; active <= 4; ++active) {
    const auto lines = app_lines({{"ASCEND_GLOBAL_LOG_LEVEL", std::to_string(active)}}, [] {
      for (const aclLogLevel level : {ACL_DEBUG, ACL_INFO, ACL_WARNING, ACL_ERROR}) {
        aclAppLog(level, "func", "file", 1, "level %d", static_cast<int>(level));
      }
    });
    ASSERT_EQ(lines.size(), static_cast<std::size_t>(4 - active)) << "active level " << active;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(lines[i].level, names[i + static_cast<std::size_t>(active)]);
    }
  }
}

TEST(AppLog, R238_R256_ALine) {
  const auto lines = app_lines(
      {}, [] { aclAppLog(ACL_ERROR, "my_func", "dir/my_file.cpp", 42, "%s costs %d%%", "it", 100); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].level, "ERROR");
  EXPECT_FALSE(lines[0].process.empty());
  // The child has one thread, so its thread number is its process number.
  EXPECT_EQ(lines[0].text, lines[0].pid + " my_func:dir/my_file.cpp:42: \"it costs 100%\"");
}

TEST(AppLog, R238_TheThreadThatWrote) {
  static int pipe_ends[2];
  ASSERT_EQ(::pipe(pipe_ends), 0);
  const auto lines = app_lines({}, [] {
    std::thread([] {
      aclAppLog(ACL_ERROR, "func", "file", 1, "text");
      const std::string id = thread_id();
      EXPECT_EQ(::write(pipe_ends[1], id.data(), id.size()), static_cast<ssize_t>(id.size()));
    }).join();
  });
  char id[32] = {};
  EXPECT_GT(::read(pipe_ends[0], id, sizeof id - 1), 0);
  ::close(pipe_ends[0]);
  ::close(pipe_ends[1]);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].text, std::string(id) + " func:file:1: \"text\"");
  EXPECT_NE(lines[0].pid, id);
}

TEST(AppLog, R238_TheMacroFillsInThePlace) {
  const auto lines = app_lines({}, [] {
    const auto here = [] { ACL_APP_LOG(ACL_ERROR, "number %d", 7); };
    here();
  });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].text.find("app_log_test.cpp:"), std::string::npos) << lines[0].text;
  EXPECT_NE(lines[0].text.find(": \"number 7\""), std::string::npos) << lines[0].text;
}

TEST(AppLog, R238_LongTextsAreCut) {
  // The text around the message is `tid func:file:1: ""`.
  const auto whole = [](std::size_t size) {
    const std::string frame = thread_id() + " func:file:1: \"\"";
    return std::string(size - frame.size(), 'x');
  };
  const auto lines = app_lines({}, [whole] {
    for (const std::size_t size : {1000U, 1023U, 1025U, 1100U, 5000U, 100000U}) {
      aclAppLog(ACL_ERROR, "func", "file", 1, "%s", whole(size).c_str());
    }
  });
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0].text.size(), 1000U);
  EXPECT_EQ(lines[1].text.size(), 1023U);
  for (const std::size_t short_one : {0U, 1U}) EXPECT_EQ(lines[short_one].text.back(), '"');
  const std::string mark = "...[truncated]";
  for (std::size_t i = 2; i < lines.size(); ++i) {
    const std::string& text = lines[i].text;
    EXPECT_LE(text.size(), 1024U);
    EXPECT_GT(text.size(), 900U);
    EXPECT_EQ(text.substr(text.size() - mark.size()), mark) << text;
  }
}

TEST(AppLog, R238_ALongPlaceIsCutToo) {
  const std::string name(3000, 'n');
  const auto lines = app_lines({}, [&name] { aclAppLog(ACL_ERROR, name.c_str(), name.c_str(), 1, "text"); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_LE(lines[0].text.size(), 1024U);
}

TEST(AppLog, R239_BeforeAclInitAndAfterAclFinalize) {
  const auto lines = app_lines({}, [] {
    aclAppLog(ACL_ERROR, "func", "file", 1, "before");
    aclInit(nullptr);
    aclAppLog(ACL_ERROR, "func", "file", 2, "between");
    aclFinalize();
    aclAppLog(ACL_ERROR, "func", "file", 3, "after");
  });
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].text.find("before"), std::string::npos);
  EXPECT_NE(lines[1].text.find("between"), std::string::npos);
  EXPECT_NE(lines[2].text.find("after"), std::string::npos);
}

TEST(AppLog, R239_IntoTheFilesOfTheRuntime) {
  const Scratch scratch;
  const Ending ending = run_captured(
      {{"ASCEND_PROCESS_LOG_PATH", scratch.path().string()}, {"ASCEND_LOG_PRINT_TO_STDOUT", "0"}}, [] {
        aclAppLog(ACL_ERROR, "func", "file", 1, "to the file");
        aclrtSetDevice(-1);
      });
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(ending.out, "") << "not to the standard output";
  const auto lines = log_lines(text_below(scratch.path()), "APP");
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].text.find("to the file"), std::string::npos);
}

TEST(AppLog, R237_R18_LinesOfManyThreadsStayWhole) {
  constexpr int kThreads = 16, kEach = 50;
  const auto lines = app_lines({}, [] {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([i] {
        for (int n = 0; n < kEach; ++n) aclAppLog(ACL_ERROR, "func", "file", 1, "<%d/%d>", i, n);
      });
    }
    for (std::thread& thread : threads) thread.join();
  });
  EXPECT_EQ(lines.size(), static_cast<std::size_t>(kThreads * kEach));
}

}  // namespace app_log_test
