// What a program that retries for ever leaves in the log, and how much all processes together leave there.
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "support/device_fixture.h"
#include "support/log_lines.h"
#include "support/scratch.h"
#include "support/settings.h"
#include "support/slices.h"

namespace log_repetitions_test {

using belay_test::Ending;
using belay_test::files_below;
using belay_test::kMB;
using belay_test::log_lines;
using belay_test::LogLine;
using belay_test::run_captured;
using belay_test::Scratch;
using belay_test::Settings;
using belay_test::slice;
using belay_test::text_below;

Settings into(const Scratch& scratch, const Settings& more = {}) {
  Settings settings = {{"ASCEND_PROCESS_LOG_PATH", scratch.path().string()},
                       {"ASCEND_LOG_PRINT_TO_STDOUT", "0"},
                       {"ASCEND_GLOBAL_LOG_LEVEL", "3"},
                       {"BELAY_HBM", "64M"}};
  settings.insert(settings.end(), more.begin(), more.end());
  return settings;
}

// How many occurrences of a text the log tells of: a line that stands for many says how many.
std::uint64_t occurrences(const std::vector<LogLine>& lines, const std::string& words) {
  static const std::regex count{".* \\(this line ([0-9]+) times since [-0-9:.]+\\)"};
  std::uint64_t all = 0;
  for (const LogLine& line : lines) {
    if (line.text.find(words) == std::string::npos) continue;
    std::smatch found;
    all += std::regex_match(line.text, found, count) ? std::stoull(found[1]) : 1;
  }
  return all;
}

void retry(int times) {
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  void* block = nullptr;
  for (int i = 0; i < times; ++i)
    ASSERT_EQ(aclrtMalloc(&block, 1024 * kMB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_MEMORY_ALLOCATION);
}

TEST(LogRepetitions, R256_C25_ARetryForEverFillsNoDisk) {
  const Scratch scratch;
  const int times = slice(20000, 2000000, 10);
  const Ending ending = run_captured(into(scratch), [times] {
    retry(times);
    std::exit(0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  const std::vector<LogLine> lines = log_lines(text_below(scratch.path()), "RUNTIME");
  EXPECT_GE(lines.size(), 10U);
  EXPECT_LE(lines.size(), 100U);
  EXPECT_EQ(occurrences(lines, "aclrtMalloc failed"), static_cast<std::uint64_t>(times));
}

TEST(LogRepetitions, R256_C21_WhatIsCountedIsWrittenAtExit) {
  for (const bool by_return : {false, true}) {
    const Scratch scratch;
    const Ending ending = run_captured(into(scratch), [by_return] {
      for (int i = 0; i < 57; ++i) aclAppLog(ACL_ERROR, "func", "file", 1, "again");
      if (!by_return) std::exit(0);
      // Also from exit functions of the program, and after them.
      std::atexit([] {
        for (int i = 0; i < 3; ++i) aclAppLog(ACL_ERROR, "func", "file", 1, "again");
      });
      std::exit(0);
    });
    EXPECT_TRUE(ending.clean()) << ending;
    const std::vector<LogLine> lines = log_lines(text_below(scratch.path()), "APP");
    EXPECT_EQ(occurrences(lines, "\"again\""), by_return ? 60U : 57U);
    EXPECT_LE(lines.size(), 14U);
  }
}

TEST(LogRepetitions, R256_TheFirstTenStandThereEvenIfTheProcessIsKilled) {
  const Scratch scratch;
  const Ending ending = run_captured(into(scratch), [] {
    for (int i = 0; i < 150; ++i) aclAppLog(ACL_ERROR, "func", "file", 1, "again");
    ::kill(::getpid(), SIGKILL);
  });
  EXPECT_TRUE(ending.killed_by(SIGKILL)) << ending;
  const std::vector<LogLine> lines = log_lines(text_below(scratch.path()), "APP");
  EXPECT_EQ(lines.size(), 11U);
  EXPECT_EQ(occurrences(lines, "\"again\""), 100U) << "ten and what was told at a hundred";
}

TEST(LogRepetitions, R256_AnotherLineComesAfterWhatWasCounted) {
  const Scratch scratch;
  const Ending ending = run_captured(into(scratch), [] {
    for (int i = 0; i < 30; ++i) aclAppLog(ACL_ERROR, "func", "file", 1, "first");
    aclAppLog(ACL_ERROR, "func", "file", 1, "second");
  });
  EXPECT_TRUE(ending.clean()) << ending;
  const std::vector<LogLine> lines = log_lines(text_below(scratch.path()), "APP");
  ASSERT_EQ(lines.size(), 12U);
  EXPECT_NE(lines[10].text.find("\"first\" (this line 20 times since "), std::string::npos) << lines[10].text;
  EXPECT_NE(lines[11].text.find("\"second\""), std::string::npos);
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_LE(lines[i - 1].time, lines[i].time);
}

TEST(LogRepetitions, R254_PrintedLinesAreNotCounted) {
  const Scratch scratch;
  const Ending ending = run_captured(into(scratch, {{"ASCEND_LOG_PRINT_TO_STDOUT", "1"}}), [] {
    for (int i = 0; i < 30; ++i) aclAppLog(ACL_ERROR, "func", "file", 1, "again");
  });
  EXPECT_EQ(log_lines(ending.out, "APP").size(), 30U);
}

TEST(LogRepetitions, R256_R69_AChildTellsNothingOfItsParent) {
  const Scratch scratch;
  const Ending ending = run_captured(into(scratch), [] {
    for (int i = 0; i < 30; ++i) aclAppLog(ACL_ERROR, "func", "file", 1, "again");
    const pid_t child = ::fork();
    if (child == 0) {
      aclAppLog(ACL_ERROR, "func", "file", 1, "child");
      std::exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  const std::vector<LogLine> lines = log_lines(text_below(scratch.path()), "APP");
  EXPECT_EQ(occurrences(lines, "\"again\""), 30U);
  EXPECT_EQ(occurrences(lines, "\"child\""), 1U);
  EXPECT_EQ(files_below(scratch.path()).size(), 2U);
}

TEST(LogRepetitions, R256_R18_ForkingAmongThreadsThatWrite) {
  const Scratch scratch;
  constexpr int kThreads = 4;
  const int each = slice(3000, 100000, 20);
  const int forks = slice(40, 900, 20);  // each has a file of its own, and a directory holds 1000
  const Ending ending = run_captured(into(scratch), [=] {
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([=] {
        for (int i = 0; i < each; ++i) ACL_APP_LOG(ACL_ERROR, "of a thread");
      });
    }
    for (int i = 0; i < forks; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        for (int n = 0; n < 20; ++n) ACL_APP_LOG(ACL_ERROR, "of a child");
        std::quick_exit(0);
      }
      int status = 0;
      EXPECT_EQ(::waitpid(child, &status, 0), child);
      EXPECT_EQ(status, 0);
    }
    for (std::thread& thread : threads) thread.join();
    std::exit(::testing::Test::HasFailure() ? 1 : 0);
  });
  EXPECT_TRUE(ending.clean()) << ending;
  const std::vector<LogLine> lines = log_lines(text_below(scratch.path()), "APP");
  EXPECT_EQ(occurrences(lines, "of a thread"), static_cast<std::uint64_t>(kThreads * each));
  EXPECT_GE(occurrences(lines, "of a child"), static_cast<std::uint64_t>(10 * forks));
}

// --- all processes together -----------------------------------------------------------------------------

std::string plog(const Scratch& scratch) { return scratch.sub("debug/plog"); }

struct Taken {
  std::size_t files = 0;
  std::uintmax_t bytes = 0;
};
Taken taken_below(const Scratch& scratch) {
  Taken taken;
  for (const auto& file : files_below(scratch.path())) {
    ++taken.files;
    taken.bytes += std::filesystem::file_size(file);
  }
  return taken;
}

constexpr int kLeft = 50000000;  // no process has such a number

// What processes wrote, without what was left there for them.
std::string text_written(const Scratch& scratch) {
  std::string all;
  for (const auto& file : files_below(scratch.path())) {
    if (file.filename().string().find("plog-" + std::to_string(kLeft / 1000)) != 0)
      all += belay_test::read_text(file);
  }
  return all;
}

// A file as another process may have left it; its bytes take no room on the disk.
std::string leave_file(const Scratch& scratch, int number, std::uintmax_t bytes) {
  std::string digits = std::to_string(number);
  digits.insert(0, 20 - digits.size(), '0');
  const std::string name = "debug/plog/plog-" + std::to_string(kLeft + number) + "_" + digits + ".log";
  const std::string path = scratch.write(name, "");
  std::filesystem::resize_file(path, bytes);
  return path;
}

void log_once() { aclAppLog(ACL_ERROR, "func", "file", 1, "once"); }

TEST(LogRoom, R255_C25_WhatTheDeadLeftIsBounded) {
  const Scratch scratch;
  for (int i = 1; i <= 40; ++i) leave_file(scratch, i, 20 * kMB);
  EXPECT_TRUE(run_captured(into(scratch), log_once).clean());
  const Taken taken = taken_below(scratch);
  EXPECT_EQ(taken.files, 11U) << "ten of the dead, and the new one";
  EXPECT_LE(taken.bytes, 201 * kMB);
  EXPECT_EQ(log_lines(text_written(scratch), "APP").size(), 1U);
}

TEST(LogRoom, R255_AThousandSmallFilesAtMost) {
  const Scratch scratch;
  for (int i = 1; i <= 1200; ++i) leave_file(scratch, i, 10);
  EXPECT_TRUE(run_captured(into(scratch), log_once).clean());
  EXPECT_EQ(taken_below(scratch).files, 1000U);
  EXPECT_TRUE(run_captured(into(scratch), log_once).clean());
  EXPECT_EQ(taken_below(scratch).files, 1000U);
}

TEST(LogRoom, R255_MoreWhereTheVariableSaysSo_NotLessForOthers) {
  const Scratch scratch;
  for (int i = 1; i <= 15; ++i) leave_file(scratch, i, 20 * kMB);
  EXPECT_TRUE(run_captured(into(scratch, {{"ASCEND_HOST_LOG_FILE_NUM", "15"}}), log_once).clean());
  EXPECT_EQ(taken_below(scratch).files, 16U);
  EXPECT_TRUE(run_captured(into(scratch, {{"ASCEND_HOST_LOG_FILE_NUM", "1"}}), log_once).clean());
  EXPECT_GE(taken_below(scratch).files, 11U);
  EXPECT_LE(taken_below(scratch).bytes, 201 * kMB);
}

TEST(LogRoom, R255_NothingButItsOwnFilesIsRemoved) {
  const Scratch scratch;
  const Scratch elsewhere;
  const std::string letter = elsewhere.write("letter", "dear");
  for (int i = 1; i <= 20; ++i) leave_file(scratch, i, 20 * kMB);
  const std::vector<std::string> strangers = {
      "debug/plog/notes.txt", "debug/plog/plog-1_20200101000000000.log",
      "debug/plog/plog-1_00000000000000000001.log.gz", "debug/plog/plog-a_00000000000000000001.log",
      "run/plog/plog-1_00000000000000000001.log"};
  for (const std::string& each : strangers) std::filesystem::resize_file(scratch.write(each, ""), 30 * kMB);
  const std::string link = plog(scratch) + "/plog-1_00000000000000000001.log";
  std::filesystem::create_symlink(letter, link);
  EXPECT_TRUE(run_captured(into(scratch), log_once).clean());
  for (const std::string& each : strangers) EXPECT_TRUE(std::filesystem::exists(scratch.sub(each))) << each;
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(belay_test::read_text(letter), "dear");
}

TEST(LogRoom, R255_ManyAtOnceStayWithinTheBound_AndLoseNothing) {
  const Scratch scratch;
  for (int i = 1; i <= 30; ++i) leave_file(scratch, i, 20 * kMB);
  std::array<int, 2> all_wrote{}, may_go{};
  ASSERT_EQ(::pipe(all_wrote.data()), 0);
  ASSERT_EQ(::pipe(may_go.data()), 0);
  constexpr int kProcesses = 12;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(may_go[1]);
      belay_test::set_environment(into(scratch));
      for (int n = 0; n < 100; ++n) aclAppLog(ACL_ERROR, "func", "file", 1, "<%d/%d>", i, n);
      (void)!::write(all_wrote[1], "w", 1);
      char none = 0;
      (void)!::read(may_go[0], &none, 1);
      aclAppLog(ACL_ERROR, "func", "file", 1, "<the end of %d>", i);
      ::_exit(0);
    }
    children.push_back(child);
  }
  char none = 0;
  for (int i = 0; i < kProcesses; ++i) EXPECT_EQ(::read(all_wrote[0], &none, 1), 1);
  EXPECT_LE(taken_below(scratch).bytes, 201 * kMB);
  // While they live their files stay, however much is asked for.
  for (int i = 31; i <= 60; ++i) leave_file(scratch, i, 20 * kMB);
  EXPECT_TRUE(run_captured(into(scratch), log_once).clean());
  ::close(may_go[1]);
  for (const pid_t child : children) EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  for (const int end : {all_wrote[0], all_wrote[1], may_go[0]}) ::close(end);
  EXPECT_LE(taken_below(scratch).bytes, 201 * kMB);
  const std::vector<LogLine> lines = log_lines(text_written(scratch), "APP");
  EXPECT_EQ(occurrences(lines, "<the end of "), static_cast<std::uint64_t>(kProcesses));
  EXPECT_EQ(occurrences(lines, "/99>"), static_cast<std::uint64_t>(kProcesses));
}

}  // namespace log_repetitions_test
