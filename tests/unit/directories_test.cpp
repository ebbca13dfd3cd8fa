#include "platform/directories.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
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

TEST(OpenDirectory, D52_WhatIsDoneInItIsDoneThere_WhateverStandsAtItsPath) {
  const Scratch scratch;
  const std::string path = scratch.sub("place"), aside = scratch.sub("aside"), theirs = scratch.sub("theirs");
  for (const std::string& each : {path, theirs}) ASSERT_EQ(::mkdir(each.c_str(), 0700), 0);
  std::string why;
  const OpenDirectory opened{path, false, why};
  ASSERT_TRUE(opened) << why;
  ASSERT_EQ(::rename(path.c_str(), aside.c_str()), 0);
  ASSERT_EQ(::symlink(theirs.c_str(), path.c_str()), 0);

  EXPECT_EQ(opened.private_directory("m", why), Standing::Ours) << why;
  EXPECT_EQ(opened.make_link("m/link", "target"), LinkOutcome::Made);
  EXPECT_EQ(opened.make_link("m/link", "target"), LinkOutcome::Exists);
  EXPECT_EQ(opened.make_link("none/link", "target"), LinkOutcome::NoDirectory);
  EXPECT_EQ(opened.read_link("m/link"), "target");
  EXPECT_EQ(opened.names_in("m"), std::vector<std::string>{"link"});
  EXPECT_EQ(opened.kind_at("m/link"), Kind::Link);
  EXPECT_EQ(opened.kind_at("m"), Kind::Directory);
  EXPECT_EQ(opened.kind_at("none"), Kind::Nothing);
  EXPECT_TRUE(fs::is_symlink(aside + "/m/link"));
  EXPECT_TRUE(opened.rename_directory("m", "n"));
  EXPECT_FALSE(opened.remove_directory("n")) << "it holds something";
  EXPECT_TRUE(opened.remove_file("n/link"));
  EXPECT_TRUE(opened.remove_directory("n"));
  EXPECT_TRUE(fs::is_empty(aside));
  EXPECT_TRUE(fs::is_empty(theirs));
}

TEST(OpenDirectory, D52_NothingThatIsNotTheUsersOwnIsOpened) {
  const Scratch scratch;
  const std::string own = scratch.sub("own"), link = scratch.sub("link"), wide = scratch.sub("wide"),
                    file = scratch.sub("file");
  ASSERT_EQ(::mkdir(own.c_str(), 0700), 0);
  ASSERT_EQ(::symlink(own.c_str(), link.c_str()), 0);
  ASSERT_EQ(::mkdir(wide.c_str(), 0700), 0);
  ASSERT_EQ(::chmod(wide.c_str(), 0755), 0);
  std::ofstream{file} << "text";
  const auto opens = [](const std::string& path, bool named, const char* words) {
    std::string why;
    const OpenDirectory opened{path, named, why};
    EXPECT_NE(why.find(words), std::string::npos) << path << ": " << why;
    return static_cast<bool>(opened);
  };
  EXPECT_TRUE(opens(own, false, ""));
  EXPECT_FALSE(opens(link, false, "is a symbolic link"));
  EXPECT_FALSE(opens(wide, false, "is open to other users"));
  EXPECT_FALSE(opens(file, false, "is not a directory"));
  EXPECT_FALSE(opens(scratch.sub("none"), false, "No such file"));
  EXPECT_TRUE(opens(link, true, "")) << "a place that the user has named may be reached through a link";
  EXPECT_TRUE(opens(wide, true, ""));
  EXPECT_FALSE(opens(file, true, "Not a directory"));
}

TEST(OpenDirectory, D52_ALinkIsNotListed) {
  const Scratch scratch;
  ASSERT_EQ(::mkdir(scratch.sub("real").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("real", scratch.sub("link").c_str()), 0);
  std::ofstream{scratch.sub("real/letter")} << "dear";
  std::string why;
  const OpenDirectory opened{scratch.path(), false, why};
  ASSERT_TRUE(opened) << why;
  bool unreadable = false;
  EXPECT_EQ(opened.names_in("real", &unreadable).size(), 1U);
  EXPECT_FALSE(unreadable);
  EXPECT_TRUE(opened.names_in("none", &unreadable).empty());
  EXPECT_FALSE(unreadable) << "it is missing";
  EXPECT_TRUE(opened.names_in("link", &unreadable).empty());
  EXPECT_TRUE(unreadable);
  EXPECT_EQ(opened.private_directory("link", why), Standing::Strange);
}

}  // namespace directories_test
}  // namespace belay::platform
