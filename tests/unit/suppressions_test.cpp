// Which findings a file of suppressions covers.
#include "check/suppressions.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace suppressions_test {
using namespace belay;
using check::fingerprint;
using check::Suppressions;

constexpr const char* kText =
    "belay: double-free: aclrtFree freed something that is freed already [lifetime]\n"
    "belay:   at Cache::clear (src/cache/pool.cpp:41)\n"
    "belay:   it is at 0x12c000000000\n"
    "belay:   the block was freed by aclrtFree:\n"
    "belay:     at main (main.cpp:7)\n"
    "belay:     at plugin.so+0x12\n";
const MisuseRow& kDouble = *row_of(Misuse::FreedTwice);

class SuppressionsFile : public testing::Test {
 protected:
  SuppressionsFile() {
    const int file = ::mkstemp(path_.data());
    if (file >= 0) ::close(file);
  }
  ~SuppressionsFile() override { ::unlink(path_.c_str()); }

  bool covers(const std::string& lines) {
    std::ofstream{path_} << lines;
    Suppressions read;
    EXPECT_TRUE(read.read(path_)) << lines;
    return read.covers(kDouble, "M-111", kText);
  }

  std::string path_ = testing::TempDir() + "suppressions-XXXXXX";
};

TEST_F(SuppressionsFile, AllWordsOfALineMustFit) {
  EXPECT_FALSE(covers(""));
  EXPECT_FALSE(covers("# class:lifetime\n\n"));
  EXPECT_TRUE(covers("class:lifetime"));
  EXPECT_TRUE(covers("id:double-*  # all of them\n"));
  EXPECT_TRUE(covers("rule:M-111"));
  EXPECT_FALSE(covers("rule:M-11"));
  EXPECT_TRUE(covers("function:Cache::*"));
  EXPECT_TRUE(covers("function:main"));
  EXPECT_FALSE(covers("function:mai"));
  EXPECT_TRUE(covers("file:src/cache/*"));
  EXPECT_TRUE(covers("file:pool.cpp")) << "the name without its folders";
  EXPECT_TRUE(covers("function:plugin.so*")) << "code without symbols";
  EXPECT_TRUE(covers("class:lifetime rule:M-111 file:main.cpp"));
  EXPECT_FALSE(covers("class:lifetime rule:M-112 file:main.cpp"));
  EXPECT_TRUE(covers("class:leaks\nid:double-free\n")) << "any line";
}

TEST_F(SuppressionsFile, TheLineForAFindingCoversIt) {
  const std::string line = Suppressions::line_for(kDouble, "M-111", kText);
  EXPECT_EQ(line, "id:double-free rule:M-111 function:Cache::clear file:src/cache/pool.cpp");
  EXPECT_TRUE(covers(line));
}

TEST_F(SuppressionsFile, AWrongLineIsRefused_AndSoIsAFileThatIsNotThere) {
  for (const char* line : {"lifetime", "klass:lifetime", "class:", "id:double-free nonsense"}) {
    std::ofstream{path_} << line;
    Suppressions read;
    EXPECT_FALSE(read.read(path_)) << line;
  }
  Suppressions read;
  EXPECT_FALSE(read.read(path_ + "-not"));
  EXPECT_FALSE(read.read_baseline(path_ + "-not"));
}

TEST_F(SuppressionsFile, ABaselineCoversTheSameFindingOnOtherLines) {
  std::ofstream{path_} << R"({"findings": [{"fingerprint": ")" << fingerprint(kDouble, "M-111", kText)
                       << R"("}]})";
  Suppressions read;
  ASSERT_TRUE(read.read_baseline(path_));
  std::string moved = kText;
  moved.replace(moved.find(":41"), 3, ":99");
  EXPECT_TRUE(read.covers(kDouble, "M-111", moved));
  EXPECT_FALSE(read.covers(kDouble, "M-112", kText));
  moved.replace(moved.find("main ("), 4, "niam");
  EXPECT_FALSE(read.covers(kDouble, "M-111", moved));
}

}  // namespace suppressions_test
