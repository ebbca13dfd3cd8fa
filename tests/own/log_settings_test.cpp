// Variables that steer the log.
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "support/device_fixture.h"
#include "support/log_lines.h"
#include "support/sanitizer.h"
#include "support/scratch.h"
#include "support/settings.h"

namespace log_settings_test {

using belay_test::Ending;
using belay_test::files_below;
using belay_test::in_fresh_process;
using belay_test::kMB;
using belay_test::log_lines;
using belay_test::LogLine;
using belay_test::read_text;
using belay_test::run_captured;
using belay_test::Scratch;
using belay_test::Settings;
using belay_test::text_below;

// No variable of the surroundings shall disturb.
void forget_the_surroundings() {
  for (const char* name : {"ASCEND_GLOBAL_LOG_LEVEL", "ASCEND_MODULE_LOG_LEVEL", "ASCEND_LOG_PRINT_TO_STDOUT",
                           "ASCEND_SLOG_PRINT_TO_STDOUT", "ASCEND_PROCESS_LOG_PATH", "ASCEND_WORK_PATH",
                           "ASCEND_HOST_LOG_FILE_NUM"}) {
    ::unsetenv(name);
  }
}

void log_all_levels() {
  for (const aclLogLevel level : {ACL_DEBUG, ACL_INFO, ACL_WARNING, ACL_ERROR}) {
    aclAppLog(level, "func", "file", 1, "level %d", static_cast<int>(level));
  }
}

struct Result {
  std::string out;                           // printed
  std::vector<std::filesystem::path> files;  // relative to the home
  std::string text;                          // in the files
  long pid = 0;
};

// Runs the body with a home of its own and collects what was logged. "{}" in a value is that home.
Result logged(const Settings& settings, const std::function<void()>& body = log_all_levels) {
  const Scratch home;
  const Ending ending = run_captured({}, [&] {
    forget_the_surroundings();
    ::setenv("HOME", home.path().c_str(), 1);
    for (auto [name, value] : settings) {
      const std::size_t at = value.find("{}");
      if (at != std::string::npos) value.replace(at, 2, home.path().string());
      ::setenv(name.c_str(), value.c_str(), 1);
    }
    body();
  });
  EXPECT_TRUE(ending.clean()) << ending;
  Result result;
  result.out = ending.out;
  result.text = text_below(home.path());
  for (const auto& file : files_below(home.path()))
    result.files.push_back(file.lexically_relative(home.path()));
  const auto lines = log_lines(result.out + result.text, "APP");
  if (!lines.empty()) result.pid = std::stol(lines[0].pid);
  return result;
}

// How many of the four levels come through.
std::size_t levels(const Settings& settings) { return log_lines(logged(settings).text, "APP").size(); }

TEST(LogSettings, R252_GlobalLevel) {
  EXPECT_EQ(levels({}), 1U) << "errors only";
  for (std::size_t level = 0; level <= 4; ++level) {
    EXPECT_EQ(levels({{"ASCEND_GLOBAL_LOG_LEVEL", std::to_string(level)}}), 4 - level) << level;
  }
  for (const char* other : {"", "5", "-1", "error", "1x", " 1"}) {
    EXPECT_EQ(levels({{"ASCEND_GLOBAL_LOG_LEVEL", other}}), 1U) << "'" << other << "' is the default";
  }
}

TEST(LogSettings, R253_ModuleLevelOverridesTheGlobalOne) {
  EXPECT_EQ(levels({{"ASCEND_MODULE_LOG_LEVEL", "APP=0"}}), 4U);
  EXPECT_EQ(levels({{"ASCEND_MODULE_LOG_LEVEL", "APP=2"}, {"ASCEND_GLOBAL_LOG_LEVEL", "0"}}), 2U);
  EXPECT_EQ(levels({{"ASCEND_MODULE_LOG_LEVEL", "RUNTIME=3:APP=1:GE=0"}}), 3U);
  EXPECT_EQ(levels({{"ASCEND_MODULE_LOG_LEVEL", "ASCENDCL=0:DRV=0"}}), 1U) << "other modules only";
}

TEST(LogSettings, R253_AnyFaultVoidsTheVariable) {
  for (const char* value : {"APP=0:RUNTIME", "APP=0: RUNTIME=1", "APP = 0", "APP=0:NOSUCHMODULE=1",
                            "APP=7:RUNTIME=0", "APP=0,RUNTIME=1", "app=0", "APP=", "=0", "APP:0"}) {
    EXPECT_EQ(levels({{"ASCEND_MODULE_LOG_LEVEL", value}}), 1U) << value;
    EXPECT_EQ(levels({{"ASCEND_MODULE_LOG_LEVEL", value}, {"ASCEND_GLOBAL_LOG_LEVEL", "2"}}), 2U) << value;
  }
}

TEST(LogSettings, R254_PrintingInsteadOfFiles) {
  for (const char* name : {"ASCEND_LOG_PRINT_TO_STDOUT", "ASCEND_SLOG_PRINT_TO_STDOUT"}) {
    const Result printed = logged({{name, "1"}});
    EXPECT_EQ(log_lines(printed.out, "APP").size(), 1U) << name;
    EXPECT_TRUE(printed.files.empty()) << name;
    for (const char* off : {"0", "2", "", "yes"}) {
      const Result written = logged({{name, off}});
      EXPECT_EQ(written.out, "") << name << "=" << off;
      EXPECT_EQ(log_lines(written.text, "APP").size(), 1U) << name << "=" << off;
    }
  }
}

TEST(LogSettings, R254_TheNewerNameWins) {
  const Result files = logged({{"ASCEND_LOG_PRINT_TO_STDOUT", "0"}, {"ASCEND_SLOG_PRINT_TO_STDOUT", "1"}});
  EXPECT_EQ(files.out, "");
  EXPECT_EQ(log_lines(files.text, "APP").size(), 1U);
  const Result printed = logged({{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}, {"ASCEND_SLOG_PRINT_TO_STDOUT", "0"}});
  EXPECT_EQ(log_lines(printed.out, "APP").size(), 1U);
  EXPECT_TRUE(printed.files.empty());
}

// All files lie where and are named as they should.
void expect_files(const Result& result, const std::string& root) {
  ASSERT_FALSE(result.files.empty());
  const std::regex shape(root + "/(debug|run|security)/plog/plog-" + std::to_string(result.pid) +
                         "_[0-9]+\\.log");
  for (const auto& file : result.files) {
    EXPECT_TRUE(std::regex_match(file.string(), shape)) << file << " below " << root;
  }
  EXPECT_EQ(log_lines(result.text, "APP").size(), 1U);
}

TEST(LogSettings, R255_WhereTheFilesAre) {
  expect_files(logged({}), "ascend/log");
  expect_files(logged({{"ASCEND_PROCESS_LOG_PATH", "{}/new/deep/place"}}), "new/deep/place");
  expect_files(logged({{"ASCEND_WORK_PATH", "{}/work"}}), "work(/.*)?");
  expect_files(logged({{"ASCEND_PROCESS_LOG_PATH", "{}/first"}, {"ASCEND_WORK_PATH", "{}/second"}}), "first");
}

TEST(LogSettings, R255_AnUnwritablePlaceFailsNoCall) {
  const Scratch scratch;
  const std::string file = scratch.write("plain", "");
  for (const std::string& place :
       {file, file + "/below", std::string("/proc/nowhere"), std::string("/dev/null")}) {
    in_fresh_process({{"ASCEND_PROCESS_LOG_PATH", place}, {"ASCEND_GLOBAL_LOG_LEVEL", "0"}}, [] {
      log_all_levels();
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(-1), ACL_ERROR_RT_INVALID_DEVICEID);
      void* block = nullptr;
      EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
      EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    });
  }
}

// Writes a little more than so many MB of lines, numbered.
void write_much(std::size_t megabytes) {
  const std::string filler(900, 'x');
  const std::size_t lines = megabytes * kMB / 950;
  for (std::size_t i = 0; i < lines; ++i)
    aclAppLog(ACL_ERROR, "func", "file", 1, "<%zu> %s", i, filler.c_str());
  aclAppLog(ACL_ERROR, "func", "file", 1, "<the end>");
}

struct Rotated {
  std::size_t count = 0;
  std::uintmax_t largest = 0;
  bool has_first = false, has_last = false;
};

Rotated rotate(std::size_t megabytes, const Settings& more) {
  const Scratch scratch;
  Settings settings = {{"ASCEND_PROCESS_LOG_PATH", scratch.path().string()},
                       {"ASCEND_LOG_PRINT_TO_STDOUT", "0"}};
  settings.insert(settings.end(), more.begin(), more.end());
  const Ending ending = run_captured(settings, [megabytes] { write_much(megabytes); });
  EXPECT_TRUE(ending.clean()) << ending;
  Rotated rotated;
  for (const auto& file : files_below(scratch.path())) {
    const std::string text = read_text(file);
    if (text.find(" APP(") == std::string::npos) continue;
    ++rotated.count;
    rotated.largest = std::max(rotated.largest, std::filesystem::file_size(file));
    rotated.has_first |= text.find("\"<0> ") != std::string::npos;
    rotated.has_last |= text.find("<the end>") != std::string::npos;
  }
  return rotated;
}

TEST(LogSettings, R255_FilesOf20MB) {
  const Rotated rotated = rotate(45, {});
  EXPECT_EQ(rotated.count, 3U);
  EXPECT_LE(rotated.largest, 20 * kMB);
  EXPECT_GT(rotated.largest, 19 * kMB);
  EXPECT_TRUE(rotated.has_first);
  EXPECT_TRUE(rotated.has_last);
}

TEST(LogSettings, R255_TheOldestFilesGo) {
  const Rotated two = rotate(65, {{"ASCEND_HOST_LOG_FILE_NUM", "2"}});
  EXPECT_EQ(two.count, 2U);
  EXPECT_LE(two.largest, 20 * kMB);
  EXPECT_FALSE(two.has_first);
  EXPECT_TRUE(two.has_last);
  const Rotated one = rotate(25, {{"ASCEND_HOST_LOG_FILE_NUM", "1"}});
  EXPECT_EQ(one.count, 1U);
  EXPECT_TRUE(one.has_last);
}

TEST(LogSettings, R256_TheShapeOfALine) {
  const Result result = logged({}, [] { aclAppLog(ACL_ERROR, "func", "file", 1, "text"); });
  const std::vector<LogLine> lines = log_lines(result.text, "APP");
  ASSERT_EQ(lines.size(), 1U) << result.text;
  EXPECT_EQ(lines[0].level, "ERROR");
  EXPECT_EQ(lines[0].text, lines[0].pid + " func:file:1: \"text\"");
}

TEST(LogSettings, R257_FurtherVariablesAreAccepted) {
  in_fresh_process({{"ASCEND_GLOBAL_EVENT_ENABLE", "0"},
                    {"ASCEND_LOG_SYNC_SAVE", "1"},
                    {"ASCEND_LOG_DEVICE_FLUSH_TIMEOUT", "0"},
                    {"ASCEND_COREDUMP_SIGNAL", "none"},
                    {"ASCEND_TRACE_RECORD_NUM", "5"}},
                   [] {
                     EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
                     EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
                     EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
                     EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
                   });
}

TEST(LogSettings, R257_NoSignalHandlers_WhereTheyAreTurnedOff) {
  in_fresh_process({{"BELAY_LEAKS", "off"}, {"ASCEND_COREDUMP_SIGNAL", "none"}}, [] {
    const std::vector<int> signals = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL,
                                      SIGTERM, SIGINT, SIGHUP,  SIGPIPE};
    std::vector<struct sigaction> before(signals.size()), after(signals.size());
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], nullptr, &before[i]);
    EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    void* block = nullptr;
    EXPECT_EQ(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(block, 64, 0, 64), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtMemset(block, 64, 0, 64), ACL_ERROR_RT_DRV_INTERNAL_ERROR);
    for (std::size_t i = 0; i < signals.size(); ++i) {
      ::sigaction(signals[i], nullptr, &after[i]);
      EXPECT_EQ(before[i].sa_handler, after[i].sa_handler) << "signal " << signals[i];
      if (!belay_test::kUnderASanitizer) {
        EXPECT_EQ(after[i].sa_handler, SIG_DFL) << "signal " << signals[i];
      }
    }
  });
}

TEST(LogSettings, R258_UncachedMemoryMakesNoDifference) {
  for (const char* value : {"0", "1", "maybe"}) {
    in_fresh_process({{"AUTO_USE_UC_MEMORY", value}, {"BELAY_HBM", "64M"}}, [value] {
      EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const std::size_t free_before = belay_test::free_bytes();
      void* block = nullptr;
      ASSERT_EQ(aclrtMalloc(&block, 3 * kMB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      EXPECT_EQ(free_before - belay_test::free_bytes(), 4 * kMB) << value;
      EXPECT_EQ(aclrtMemset(block, 3 * kMB, 1, 3 * kMB), ACL_SUCCESS);
      EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    });
  }
}

}  // namespace log_settings_test
