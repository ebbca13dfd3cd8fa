#include "report/repetitions.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include "support/slices.h"

namespace belay::report {
namespace repetitions_test {

constexpr std::uint64_t kSecond = 1000ULL * 1000 * 1000;

struct Written {
  std::string name;
  std::uint64_t times;
};

// Feeds lines, one a nanosecond unless told otherwise, and keeps what is written.
class Desk {
 public:
  void add(const std::string& name, std::uint64_t after = 1) {
    now_ += after;
    keep(repetitions_.add({"[ERROR] ", std::to_string(++added_), name}, now_));
  }
  void end() { keep(repetitions_.end()); }
  void add_many(const std::string& name, int times) {
    for (int i = 0; i < times; ++i) add(name);
  }

  const std::vector<Written>& written() const { return written_; }
  std::uint64_t sum(const std::string& name) const {
    std::uint64_t all = 0;
    for (const Written& each : written_) all += each.name == name ? each.times : 0;
    return all;
  }
  const std::string& last_text() const { return texts_.back(); }

 private:
  void keep(const std::vector<std::string>& texts) {
    static const std::regex shape{
        "\\[ERROR\\] ([0-9]+) ([^ ]+)( \\(this line ([0-9]+) times since ([0-9]+)\\))?\n"};
    for (const std::string& text : texts) {
      texts_.push_back(text);
      std::smatch found;
      ASSERT_TRUE(std::regex_match(text, found, shape)) << text;
      const std::uint64_t stamp = std::stoull(found[1]);
      EXPECT_GT(stamp, last_stamp_) << "in the order in which it last happened: " << text;
      last_stamp_ = stamp;
      written_.push_back({found[2], found[4].matched ? std::stoull(found[4]) : 1});
    }
  }

  Repetitions repetitions_;
  std::uint64_t now_ = 100 * kSecond, added_ = 0, last_stamp_ = 0;
  std::vector<Written> written_;
  std::vector<std::string> texts_;
};

TEST(Repetitions, R256_TheFirstTenAreWrittenAsTheyAre) {
  for (const int times : {1, 9, 10}) {
    Desk desk;
    desk.add_many("a", times);
    EXPECT_EQ(desk.written().size(), static_cast<std::size_t>(times));
    desk.end();
    EXPECT_EQ(desk.written().size(), static_cast<std::size_t>(times)) << "nothing is left to tell";
    for (const Written& each : desk.written()) EXPECT_EQ(each.times, 1U);
  }
  Desk desk;
  desk.add_many("a", 11);
  EXPECT_EQ(desk.written().size(), 10U) << "the eleventh is counted";
  desk.end();
  EXPECT_EQ(desk.written().size(), 11U);
  EXPECT_EQ(desk.last_text(), "[ERROR] 11 a\n") << "one is not worth counting";
}

TEST(Repetitions, R256_ToldAtPowersOfTen) {
  Desk desk;
  desk.add_many("a", 99);
  EXPECT_EQ(desk.written().size(), 10U);
  desk.add("a");
  ASSERT_EQ(desk.written().size(), 11U);
  EXPECT_EQ(desk.last_text(), "[ERROR] 100 a (this line 90 times since 11)\n");
  desk.add_many("a", 899);
  EXPECT_EQ(desk.written().size(), 11U);
  desk.add("a");
  ASSERT_EQ(desk.written().size(), 12U);
  EXPECT_EQ(desk.sum("a"), 1000U);
  desk.add_many("a", 1000 * 1000 - 1000);
  EXPECT_EQ(desk.written().size(), 15U) << "10,000, 100,000 and a million";
  EXPECT_EQ(desk.sum("a"), 1000U * 1000);
}

TEST(Repetitions, R256_AnotherLineHasWhatWasCountedBeforeIt) {
  Desk desk;
  desk.add_many("a", 50);
  desk.add("b");
  ASSERT_EQ(desk.written().size(), 12U);
  EXPECT_EQ(desk.written()[10].name, "a");
  EXPECT_EQ(desk.written()[10].times, 40U);
  EXPECT_EQ(desk.written()[11].name, "b");
  // A run that goes on is not written in full again.
  desk.add_many("a", 50);
  EXPECT_EQ(desk.written().size(), 12U);
  desk.end();
  EXPECT_EQ(desk.sum("a"), 100U);
}

TEST(Repetitions, R256_ToldAtTheLatestAfterTenSeconds) {
  Desk desk;
  desk.add_many("a", 20);
  desk.add("a", 10 * kSecond - 11);
  EXPECT_EQ(desk.written().size(), 10U) << "a nanosecond is missing since the tenth";
  desk.add("a");
  ASSERT_EQ(desk.written().size(), 11U);
  EXPECT_EQ(desk.written()[10].times, 12U);
  desk.add("a", 10 * kSecond - 1);
  EXPECT_EQ(desk.written().size(), 11U);
  desk.add("a", 10 * kSecond);
  EXPECT_EQ(desk.written().size(), 12U) << "with the one before it";
  EXPECT_EQ(desk.sum("a"), 24U);
}

TEST(Repetitions, R256_AfterAPauseALineIsNewsAgain) {
  Desk desk;
  desk.add_many("a", 1000);
  const std::size_t before = desk.written().size();
  desk.add("a", 10 * kSecond);
  desk.add_many("a", 9);
  EXPECT_EQ(desk.written().size(), before + 10);
  desk.add("a");
  EXPECT_EQ(desk.written().size(), before + 10);
}

TEST(Repetitions, R256_SeveralLinesMayRepeatInTurn) {
  Desk desk;
  constexpr int kRounds = 10000;
  for (int i = 0; i < kRounds; ++i) {
    for (std::size_t line = 0; line < Repetitions::kDifferent; ++line)
      desk.add("line" + std::to_string(line));
  }
  desk.end();
  EXPECT_LT(desk.written().size(), 300U);
  for (std::size_t line = 0; line < Repetitions::kDifferent; ++line)
    EXPECT_EQ(desk.sum("line" + std::to_string(line)), static_cast<std::uint64_t>(kRounds));
}

TEST(Repetitions, R256_OneMoreThanIsRememberedIsWrittenAsItComes) {
  Desk desk;
  constexpr std::size_t kRounds = 100;
  for (std::size_t i = 0; i < kRounds; ++i) {
    for (std::size_t line = 0; line <= Repetitions::kDifferent; ++line)
      desk.add("line" + std::to_string(line));
  }
  EXPECT_EQ(desk.written().size(), kRounds * (Repetitions::kDifferent + 1));
}

TEST(Repetitions, R256_OnlyTheTimeMayDiffer) {
  Repetitions repetitions;
  std::size_t written = 0;
  for (int i = 0; i < 20; ++i) {
    written += repetitions.add({"[ERROR] ", "t", "text"}, 1).size();
    written += repetitions.add({"[INFO] ", "t", "text"}, 1).size();
    written += repetitions.add({"[ERROR] ", "t", "text "}, 1).size();
  }
  EXPECT_EQ(written, 30U) << "three lines, ten of each";
}

TEST(Repetitions, R256_AfterTheEndEachLineIsWrittenAsItComes) {
  Desk desk;
  desk.add_many("a", 20);
  desk.end();
  ASSERT_EQ(desk.written().size(), 11U);
  EXPECT_EQ(desk.written()[10].times, 10U);
  desk.add_many("a", 5);
  EXPECT_EQ(desk.written().size(), 16U);
  desk.end();
  EXPECT_EQ(desk.written().size(), 16U);
}

TEST(Repetitions, R256_WhateverComes_SumsAreExactAndInOrder) {
  std::mt19937 random = belay_test::test_random(0);
  for (int round = 0; round < 50; ++round) {
    Desk desk;
    std::vector<std::uint64_t> fed(20);
    for (int i = 0; i < 3000; ++i) {
      // Stretches of few different lines, now and then a pause.
      const std::size_t line = random() % (i / 500 % 2 == 0 ? 3 : fed.size());
      ++fed[line];
      desk.add("line" + std::to_string(line), random() % 200 == 0 ? random() % 13 * kSecond : 1);
    }
    desk.end();
    for (std::size_t line = 0; line < fed.size(); ++line)
      EXPECT_EQ(desk.sum("line" + std::to_string(line)), fed[line]);
  }
}

}  // namespace repetitions_test
}  // namespace belay::report
