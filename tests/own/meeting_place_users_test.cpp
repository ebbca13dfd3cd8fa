// The usual places where the processes of a user meet, when other users have been there first. Their names
// are known to everybody, and anybody may make something there: nothing of it is followed, used or changed,
// the processes still meet, and a person is told.
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "belay/belay.h"
#include "support/device_fixture.h"
#include "support/scratch.h"
#include "support/settings.h"

namespace meeting_place_users_test {

using namespace belay_test;
namespace fs = std::filesystem;

constexpr uid_t kAnother = 64999;

class MeetingPlace : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be several users";
    const int status =
        run_in_fresh_process([this] { ::_exit(::setresuid(user_, user_, user_) == 0 ? 0 : 1); });
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) GTEST_SKIP() << "there are no other users here";
    ASSERT_EQ(::chmod(scratch_.path().c_str(), 0755), 0);
    make_for(user_, home_);
    make_for(kAnother, scratch_.sub("theirs"));
    for (const std::string& place : places_) fs::remove_all(place);
  }
  void TearDown() override {
    std::error_code ignored;
    for (const std::string& place : places_) fs::remove_all(place, ignored);  // a link, not what is behind it
  }

  static void make_for(uid_t user, const std::string& path, mode_t mode = 0700) {
    ASSERT_EQ(::mkdir(path.c_str(), 0700), 0) << path;
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ASSERT_EQ(::chown(path.c_str(), user, user), 0);
  }
  static void link_for(uid_t user, const std::string& path, const std::string& target) {
    ASSERT_EQ(::symlink(target.c_str(), path.c_str()), 0) << path;
    ASSERT_EQ(::lchown(path.c_str(), user, user), 0);
  }

  std::function<void()> as_user(const std::function<void()>& body) const {
    return [this, body] {
      ::unsetenv("BELAY_MACHINE");
      ::unsetenv("BELAY_MACHINES");
      set_environment({{"HOME", home_}, {"BELAY_HBM", "64M"}, {"BELAY_LEAKS", "off"}});
      ASSERT_EQ(::setresgid(user_, user_, user_), 0);
      ASSERT_EQ(::setresuid(user_, user_, user_), 0);
      ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // changing the user has made it undumpable
      body();
    };
  }

  struct Met {
    bool shared = false;
    std::string err;  // of the second process
  };
  // Two processes of the user at the same time. Does the second see what the first holds?
  Met meet(const std::function<void()>& before_both = [] {}) const {
    std::array<int, 2> ready{}, go{}, seen{};
    for (auto* ends : {&ready, &go, &seen}) EXPECT_EQ(::pipe(ends->data()), 0);
    const Started first = start_captured(as_user([&] {
      ::close(go[1]);
      before_both();
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      void* block = nullptr;
      EXPECT_EQ(aclrtMalloc(&block, 4 * kMB, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
      (void)!::write(ready[1], "r", 1);
      char none = 0;
      (void)!::read(go[0], &none, 1);
    }));
    char none = 0;
    EXPECT_EQ(::read(ready[0], &none, 1), 1);
    const Ending second = run_captured(as_user([&] {
      before_both();
      EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
      const char shared = free_bytes() == 64 * kMB ? 'n' : 'y';
      (void)!::write(seen[1], &shared, 1);
    }));
    EXPECT_TRUE(second.clean()) << second;
    ::close(go[1]);
    const Ending ending = collect(first.child, first.out, first.err, 60);
    EXPECT_TRUE(ending.clean()) << ending;
    EXPECT_EQ(ending.err, second.err) << "each is told the same";
    EXPECT_EQ(::read(seen[0], &none, 1), 1);
    for (const int end : {ready[0], ready[1], go[0], seen[0], seen[1]}) ::close(end);
    return {none == 'y', second.err};
  }

  // One line, with these words.
  static void expect_told(const std::string& err, const std::vector<std::string>& words) {
    EXPECT_EQ(std::count(err.begin(), err.end(), '\n'), 1) << err;
    EXPECT_EQ(err.rfind("belay: ", 0), 0U) << err;
    for (const std::string& word : words)
      EXPECT_NE(err.find(word), std::string::npos) << word << " in " << err;
    EXPECT_NE(err.find("BELAY_MACHINES"), std::string::npos) << err;
  }

  std::set<std::string> names_below(const std::string& path) const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(path)) names.insert(entry.path());
    return names;
  }

  const uid_t user_ = 20000 + static_cast<uid_t>(::getpid()) % 40000;
  const Scratch scratch_;
  const std::string home_ = scratch_.sub("home");
  const std::vector<std::string> places_ = {"/dev/shm/belay-" + std::to_string(user_),
                                            "/tmp/belay-" + std::to_string(user_)};
};

TEST_F(MeetingPlace, D52_WhereNothingIsInTheWay_NothingIsSaid) {
  const Met met = meet();
  EXPECT_TRUE(met.shared);
  EXPECT_EQ(met.err, "");
  EXPECT_TRUE(fs::is_directory(places_[0]));
  EXPECT_FALSE(fs::exists(places_[1]));
  EXPECT_TRUE(fs::is_empty(home_)) << "not even a directory";
}

TEST_F(MeetingPlace, D52_LinksOfAnotherUserAreNotFollowed_AndProcessesStillMeet) {
  const std::string precious = home_ + "/precious";
  make_for(user_, precious);
  std::ofstream{precious + "/letter"} << "dear";
  for (const std::string& target : {precious, scratch_.sub("theirs"), scratch_.sub("nowhere"), places_[0]}) {
    SCOPED_TRACE(target);
    for (const uid_t maker : {kAnother, uid_t{0}, user_}) {
      link_for(maker, places_[0], target);
      const std::set<std::string> before = names_below(scratch_.path());
      const Met met = meet();
      EXPECT_TRUE(met.shared);
      expect_told(met.err, {places_[0] + " is a symbolic link", "belay uses " + places_[1]});
      EXPECT_EQ(names_below(scratch_.path()), before) << "something was made or removed behind it";
      EXPECT_EQ(fs::read_symlink(places_[0]), target);
      fs::remove(places_[0]);
    }
  }
  EXPECT_EQ(read_text(precious + "/letter"), "dear");
}

TEST_F(MeetingPlace, D52_WhateverHasTheNames_ProcessesMeetInTheHome) {
  struct Case {
    const char* words;
    std::function<void(const std::string&)> make;
  };
  const std::vector<Case> cases = {
      {"belongs to another user (number 64999)", [](const std::string& at) { make_for(kAnother, at); }},
      {"belongs to another user", [](const std::string& at) { make_for(kAnother, at, 0777); }},
      {"is a symbolic link of another user",
       [this](const std::string& at) { link_for(kAnother, at, scratch_.sub("theirs")); }},
      {"is a symbolic link of another user",
       [this](const std::string& at) { link_for(kAnother, at, home_); }},
      {"is open to other users", [this](const std::string& at) { make_for(user_, at, 0755); }},
      {"is open to other users", [this](const std::string& at) { make_for(user_, at, 0701); }},
      {"is not a directory",
       [this](const std::string& at) {
         std::ofstream{at} << "text";
         ASSERT_EQ(::chown(at.c_str(), user_, user_), 0);
       }},
      {"belongs to another user", [](const std::string& at) { std::ofstream{at} << "text"; }},
  };
  for (const Case& each : cases) {
    SCOPED_TRACE(each.words);
    std::vector<struct stat> before(places_.size()), after(places_.size());
    for (std::size_t i = 0; i < places_.size(); ++i) {
      each.make(places_[i]);
      ASSERT_EQ(::lstat(places_[i].c_str(), &before[i]), 0);
    }
    const Met met = meet();
    EXPECT_TRUE(met.shared);
    expect_told(met.err,
                {places_[0] + " " + each.words, places_[1] + " " + each.words, home_ + "/.cache/belay-"});
    for (std::size_t i = 0; i < places_.size(); ++i) {
      ASSERT_EQ(::lstat(places_[i].c_str(), &after[i]), 0);
      EXPECT_EQ(before[i].st_mode, after[i].st_mode);
      EXPECT_EQ(before[i].st_uid, after[i].st_uid);
      EXPECT_EQ(before[i].st_mtim.tv_nsec, after[i].st_mtim.tv_nsec) << "nothing was made in it";
      fs::remove_all(places_[i]);
    }
    EXPECT_TRUE(fs::is_empty(scratch_.sub("theirs")));
    struct stat cache {};
    ASSERT_EQ(::stat((home_ + "/.cache").c_str(), &cache), 0);
    EXPECT_EQ(cache.st_mode & 0777, 0700U);
    EXPECT_EQ(cache.st_uid, user_);
    fs::remove_all(home_ + "/.cache");
  }
}

TEST_F(MeetingPlace, D52_C25_WhoIsAloneIsTold_Once) {
  for (const std::string& place : places_) make_for(kAnother, place);
  // Neither somebody else's home nor one that is not there.
  for (const std::string& home :
       {scratch_.sub("theirs"), scratch_.sub("missing"), std::string{"relative"}, std::string{}}) {
    SCOPED_TRACE(home);
    const Met met = meet([&home] {
      ::setenv("HOME", home.c_str(), 1);
      ::setenv("ASCEND_GLOBAL_LOG_LEVEL", "4", 1);
    });
    EXPECT_FALSE(met.shared);
    expect_told(met.err, {places_[0], places_[1], "belongs to another user", "machine of its own"});
  }
  EXPECT_TRUE(fs::is_empty(scratch_.sub("theirs")));
  const Ending ending = run_captured(as_user([this] {
    ::setenv("HOME", scratch_.sub("theirs").c_str(), 1);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(belay_restart(), 0);
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  }));
  EXPECT_TRUE(ending.clean()) << ending;
  expect_told(ending.err, {"machine of its own"});
}

TEST_F(MeetingPlace, D52_WhoNamedAMachineIsRefused_WhereThereIsNoPlace) {
  for (const std::string& place : places_) make_for(kAnother, place);
  const Ending ending = run_captured(as_user([this] {
    set_environment({{"HOME", scratch_.sub("theirs")}, {"BELAY_MACHINE", "lab"}});
    EXPECT_EQ(aclrtSetDevice(0), ACL_ERROR_RT_DEV_SETUP_ERROR);
    const std::string message = aclGetRecentErrMsg();
    for (const std::string& place : places_) EXPECT_NE(message.find(place), std::string::npos) << message;
  }));
  EXPECT_TRUE(ending.clean()) << ending;
}

// A home may be the same on several hosts, whose process numbers mean others.
TEST_F(MeetingPlace, D52_ThePlaceInTheHomeIsOfThisHostAlone) {
  for (const std::string& place : places_) make_for(kAnother, place);
  EXPECT_TRUE(meet().shared);
  std::ifstream file{"/proc/sys/kernel/random/boot_id"};
  std::string boot;
  file >> boot;
  EXPECT_TRUE(fs::is_directory(home_ + "/.cache/belay-" + boot));
}

}  // namespace meeting_place_users_test
