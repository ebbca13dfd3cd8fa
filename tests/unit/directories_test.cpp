#include "platform/directories.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "support/scratch.h"

namespace belay::platform {
namespace directories_test {

using belay_test::Scratch;
namespace fs = std::filesystem;

constexpr uid_t kAnother = 4711;

mode_t mode_of(const std::string& path) {
  struct stat about {};
  EXPECT_EQ(::lstat(path.c_str(), &about), 0) << path;
  return about.st_mode & 07777;
}

TEST(Directories, D52_APrivateDirectoryIsMadeForThisUserAlone) {
  const Scratch scratch;
  const mode_t before = ::umask(0);
  std::string why;
  EXPECT_EQ(private_directory(scratch.sub("new"), why), Standing::Ours) << why;
  ::umask(before);
  EXPECT_EQ(mode_of(scratch.sub("new")), 0700U);
  EXPECT_EQ(private_directory(scratch.sub("new"), why), Standing::Ours) << "and again";
  EXPECT_EQ(why, "");
}

TEST(Directories, D52_ALinkIsNotFollowed_WhereverItLeads) {
  const Scratch scratch;
  fs::create_directory(scratch.sub("ours"));
  fs::permissions(scratch.sub("ours"), fs::perms::owner_all);
  scratch.write("file", "text");
  for (const char* target : {"ours", "file", "nowhere", "link"}) {
    const std::string link = scratch.sub("link");
    fs::create_symlink(scratch.sub(target), link);
    std::string why;
    EXPECT_EQ(private_directory(link, why), Standing::Strange) << target;
    EXPECT_EQ(why, link + " is a symbolic link") << target;
    if (::geteuid() == 0) {
      ASSERT_EQ(::lchown(link.c_str(), kAnother, kAnother), 0);
      EXPECT_EQ(private_directory(link, why), Standing::Strange) << target;
      EXPECT_EQ(why, link + " is a symbolic link of another user (number 4711)") << target;
    }
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_FALSE(fs::exists(scratch.sub("nowhere"))) << "nothing is made at its end";
    fs::remove(link);
  }
  EXPECT_TRUE(fs::is_empty(scratch.sub("ours")));
}

TEST(Directories, D52_RightsOfOthersAreNotAccepted_AndNotChanged) {
  const Scratch scratch;
  const std::string path = scratch.sub("directory");
  fs::create_directory(path);
  std::string why;
  for (const mode_t mode : {0701U, 0702U, 0704U, 0710U, 0720U, 0740U, 0755U, 0777U, 01777U}) {
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    EXPECT_EQ(private_directory(path, why), Standing::Strange) << std::oct << mode;
    EXPECT_EQ(why, path + " is open to other users");
    EXPECT_EQ(mode_of(path), mode);
  }
  ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
  EXPECT_EQ(private_directory(path, why), Standing::Ours);
}

TEST(Directories, D52_WhatIsNoDirectory_OrAnothers_IsStrange) {
  const Scratch scratch;
  std::string why;
  const std::string file = scratch.write("file", "text");
  EXPECT_EQ(private_directory(file, why), Standing::Strange);
  EXPECT_EQ(why, file + " is not a directory");
  EXPECT_EQ(belay_test::read_text(file), "text");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory to another user";
  const std::string theirs = scratch.sub("theirs");
  ASSERT_EQ(::mkdir(theirs.c_str(), 0700), 0);
  ASSERT_EQ(::chown(theirs.c_str(), kAnother, kAnother), 0);
  EXPECT_EQ(private_directory(theirs, why), Standing::Strange);
  EXPECT_EQ(why, theirs + " belongs to another user (number 4711)");
  EXPECT_FALSE(belongs_to_user(theirs));
  EXPECT_TRUE(belongs_to_user(scratch.path()));
  EXPECT_FALSE(belongs_to_user(scratch.sub("missing")));
}

TEST(Directories, D52_WhereNothingCanBeMade_ThePlaceIsUnavailable) {
  const Scratch scratch;
  scratch.write("file", "text");
  for (const std::string& path :
       {scratch.sub("missing/below"), scratch.sub("file/below"), std::string{"/proc/belay"}, std::string{}}) {
    std::string why;
    EXPECT_EQ(private_directory(path, why), Standing::Unavailable) << path;
    EXPECT_NE(why, "") << path;
  }
  EXPECT_FALSE(fs::exists(scratch.sub("missing")));
}

// A directory that the user has named may be reached through a link of the user's.
TEST(Directories, D52_ADirectoryThatWasNamedMayBeALink) {
  const Scratch scratch;
  fs::create_directory(scratch.sub("real"));
  fs::create_symlink("real", scratch.sub("link"));
  std::string why;
  EXPECT_TRUE(usable_directory(scratch.sub("link"), why)) << why;
  fs::create_symlink("gone", scratch.sub("dangling"));
  EXPECT_FALSE(usable_directory(scratch.sub("dangling"), why));
}

}  // namespace directories_test
}  // namespace belay::platform
