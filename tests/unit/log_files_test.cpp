#include "report/log_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "support/fresh_process.h"
#include "support/scratch.h"
#include "support/shared_state.h"

namespace belay::report {
namespace log_files_test {

using belay_test::Child;
using belay_test::Scratch;
using platform::AppendFile;
using platform::OwnFile;
using platform::Removal;

// The file of a process, as old as the number is small.
std::string name_of(int process, int age) {
  std::string digits = std::to_string(age);
  digits.insert(0, 20 - digits.size(), '0');
  return "plog-" + std::to_string(process) + "_" + digits + ".log";
}
int me() { return static_cast<int>(::getpid()); }

// What goes, where none is in use unless it is named.
std::vector<std::string> gone(const std::vector<OwnFile>& files, const std::string& current, std::size_t most,
                              const std::set<std::string>& in_use = {}) {
  std::vector<std::string> names;
  make_room(files, current, most, [&](const std::string& name) {
    if (in_use.contains(name)) return false;
    names.push_back(name);
    return true;
  });
  return names;
}

TEST(LogFiles, R255_OnlyExactlyItsOwnNames) {
  const std::string time = "20261117164618123456";
  EXPECT_TRUE(is_log_name("plog-1_" + time + ".log"));
  EXPECT_TRUE(is_log_name("plog-4194304_" + time + ".log"));
  for (const std::string& name : std::vector<std::string>{
           "plog-_" + time + ".log", "plog-1_" + time + ".log.gz", "plog-1_" + time,
           "plog-1_" + time + "0.log", "plog-1_" + time.substr(1) + ".log", "plog-1_20261117164618123.log",
           "plog-x_" + time + ".log", "plog-1x_" + time + ".log", "plog-1_" + time.substr(1) + "x.log",
           " plog-1_" + time + ".log", "Plog-1_" + time + ".log", "plog-1-" + time + ".log",
           "plog-1__" + time.substr(1) + ".log", "device-1_" + time + ".log", "", "plog-", ".log",
           "plog-_.log", "plog-.log"})
    EXPECT_FALSE(is_log_name(name)) << name;
}

TEST(LogFiles, R255_OfThisProcessAsManyAsItsVariableSays) {
  const std::string current = name_of(me(), 99);
  for (const std::size_t most : {1U, 2U, 10U}) {
    std::vector<OwnFile> files = {{current, 0}};
    for (int age = 1; age <= 9; ++age) files.push_back({name_of(me(), age), 1});
    const std::vector<std::string> names = gone(files, current, most);
    ASSERT_EQ(names.size(), 10 - most);
    for (std::size_t i = 0; i < names.size(); ++i)
      EXPECT_EQ(names[i], name_of(me(), static_cast<int>(i) + 1)) << "the oldest first";
  }
}

TEST(LogFiles, R255_FilesOfOthersAreNotCountedAmongItsOwn) {
  const std::string current = name_of(me(), 99);
  std::vector<OwnFile> files = {{current, 0}};
  for (int age = 1; age <= 50; ++age) files.push_back({name_of(me() * 10 + age % 2, age), 1});
  EXPECT_TRUE(gone(files, current, 1).empty());
}

TEST(LogFiles, R255_AllTogetherKeepWhatOneMayWrite) {
  const std::string current = name_of(me(), 99);
  const auto with = [&](std::uint64_t last_bytes) {
    std::vector<OwnFile> files = {{current, 0}};
    for (int age = 1; age <= 9; ++age) files.push_back({name_of(age + 100000000, age), kLogFileBytes});
    files.push_back({name_of(5, 10), last_bytes});
    return files;
  };
  EXPECT_TRUE(gone(with(kLogFileBytes - 1), current, kUsualLogFiles).empty());
  EXPECT_TRUE(gone(with(kLogFileBytes), current, kUsualLogFiles).empty());
  const std::vector<std::string> names = gone(with(kLogFileBytes + 1), current, kUsualLogFiles);
  ASSERT_EQ(names.size(), 1U);
  EXPECT_EQ(names[0], name_of(100000001, 1)) << "by its time, not by its name";
  EXPECT_EQ(gone(with(kLogFileBytes + 1), current, 1).size(), 1U)
      << "who wants few files does not shorten what others wrote";
  EXPECT_TRUE(gone(with(kLogFileBytes + 1), current, kUsualLogFiles + 1).empty());
  EXPECT_EQ(gone(with(3 * kLogFileBytes + 1), current, kUsualLogFiles).size(), 3U);
}

TEST(LogFiles, R255_AThousandFilesAtMost) {
  const std::string current = name_of(me(), 99999);
  for (const int others : {998, 999, 1000, 1500}) {
    std::vector<OwnFile> files = {{current, 0}};
    for (int age = 1; age <= others; ++age) files.push_back({name_of(me() + age, age), 100});
    EXPECT_EQ(gone(files, current, kUsualLogFiles).size(),
              static_cast<std::size_t>(std::max(others - 999, 0)));
  }
}

TEST(LogFiles, R255_WhatIsInUseStays_AndTheNextGoes) {
  const std::string current = name_of(me(), 99);
  std::vector<OwnFile> files = {{current, 0}};
  for (int age = 1; age <= 12; ++age) files.push_back({name_of(me() + age, age), kLogFileBytes});
  const std::vector<std::string> names =
      gone(files, current, kUsualLogFiles, {name_of(me() + 1, 1), name_of(me() + 3, 3)});
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0], name_of(me() + 2, 2));
  EXPECT_EQ(names[1], name_of(me() + 4, 4));
}

TEST(LogFiles, R255_AFileThatIsWrittenIsNotRemoved_OneOfTheDeadIs) {
  const Scratch scratch;
  const std::string name = name_of(1, 1);
  {
    AppendFile mine;
    ASSERT_EQ(mine.create(scratch.sub(name)), AppendFile::Created::Done);
    EXPECT_EQ(platform::remove_if_left_behind(scratch.path(), name), Removal::InUse);
    EXPECT_TRUE(mine.is_there());
    AppendFile again;
    EXPECT_EQ(again.create(scratch.sub(name)), AppendFile::Created::TryAnotherName);
  }
  EXPECT_EQ(platform::remove_if_left_behind(scratch.path(), name), Removal::Done);
  EXPECT_NE(platform::remove_if_left_behind(scratch.path(), name), Removal::Done);
  const Child child{[&] {
    AppendFile& its = *new AppendFile;
    return its.create(scratch.sub(name)) == AppendFile::Created::Done && its.append("text\n") ? 0 : 1;
  }};
  ASSERT_EQ(child.answer(), 0);
  EXPECT_NE(platform::remove_if_left_behind(scratch.path(), name), Removal::Done);
  child.kill();
  EXPECT_EQ(platform::remove_if_left_behind(scratch.path(), name), Removal::Done);
}

TEST(LogFiles, R255_AChildThatSharesTheDescriptorKeepsNoClosedFile) {
  const Scratch scratch;
  const std::string name = name_of(1, 1);
  AppendFile mine;
  ASSERT_EQ(mine.create(scratch.sub(name)), AppendFile::Created::Done);
  const Child unaware{[] { return 0; }};
  ASSERT_EQ(unaware.answer(), 0);
  const Child aware{[&] {
    mine.abandon();
    return 0;
  }};
  ASSERT_EQ(aware.answer(), 0);
  EXPECT_EQ(platform::remove_if_left_behind(scratch.path(), name), Removal::InUse)
      << "the parent still writes it";
  EXPECT_TRUE(mine.append("text\n"));
  mine.close();
  EXPECT_EQ(platform::remove_if_left_behind(scratch.path(), name), Removal::Done);
}

TEST(LogFiles, R255_LinksAndOthersThingsStay) {
  const Scratch scratch;
  const std::string letter = scratch.write("letter", "dear");
  for (const std::string& target : {letter, scratch.path().string(), std::string{"/nowhere"}}) {
    const std::string name = name_of(7, 7);
    std::filesystem::create_symlink(target, scratch.sub(name));
    EXPECT_NE(platform::remove_if_left_behind(scratch.path(), name), Removal::Done);
    EXPECT_TRUE(platform::own_files(scratch.path(), is_log_name).empty());
    AppendFile through;
    EXPECT_EQ(through.create(scratch.sub(name)), AppendFile::Created::TryAnotherName);
    EXPECT_TRUE(std::filesystem::is_symlink(scratch.sub(name)));
    std::filesystem::remove(scratch.sub(name));
  }
  EXPECT_EQ(belay_test::read_text(letter), "dear");
  std::filesystem::create_directory(scratch.sub(name_of(8, 8)));
  ASSERT_EQ(::mkfifo(scratch.sub(name_of(9, 9)).c_str(), 0600), 0);
  EXPECT_TRUE(platform::own_files(scratch.path(), is_log_name).empty());
  EXPECT_NE(platform::remove_if_left_behind(scratch.path(), name_of(8, 8)), Removal::Done);
  EXPECT_NE(platform::remove_if_left_behind(scratch.path(), name_of(9, 9)), Removal::Done);
  if (::geteuid() == 0) {
    const std::string name = name_of(10, 10);
    ASSERT_EQ(::chown(scratch.write(name, "theirs").c_str(), 4711, 4711), 0);
    EXPECT_TRUE(platform::own_files(scratch.path(), is_log_name).empty());
    EXPECT_NE(platform::remove_if_left_behind(scratch.path(), name), Removal::Done);
  }
}

TEST(LogFiles, R255_AfterItWasRemovedAnotherIsBegun) {
  const Scratch scratch;
  LogFiles files{scratch.sub("deep/plog"), 10};
  files.append("one\n");
  std::filesystem::remove_all(scratch.sub("deep"));
  files.append("two\n");
  const std::vector<OwnFile> found = platform::own_files(scratch.sub("deep/plog"), is_log_name);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(belay_test::read_text(scratch.sub("deep/plog/" + found[0].name)), "two\n");
}

TEST(LogFiles, R255_ADescriptorThatIsAnotherFileByNowIsLeftAlone) {
  const Scratch scratch;
  belay_test::in_fresh_process([&] {
    LogFiles files{scratch.sub("plog"), 10};
    files.append("one\n");
    ::closefrom(3);
    std::vector<std::FILE*> strangers;
    for (int i = 0; i < 20; ++i) strangers.push_back(std::fopen(scratch.sub("letter").c_str(), "w"));
    files.append("two\n");
    for (std::FILE* each : strangers) {
      EXPECT_GE(std::fputs("dear", each), 0);
      EXPECT_EQ(std::fclose(each), 0);
    }
  });
  EXPECT_EQ(belay_test::read_text(scratch.sub("letter")), "dear");
  EXPECT_EQ(platform::own_files(scratch.sub("plog"), is_log_name).size(), 2U);
}

}  // namespace log_files_test
}  // namespace belay::report
