// The directory where processes meet: small, full, wrong, full of rubbish. A process gets on the machine or
// is told in words why not; nothing hangs, and nothing that was there before is harmed.
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <fstream>

#include "support/members.h"
#include "support/sanitizer.h"
#include "support/settings.h"

namespace machine_place_test {

using namespace belay_test;
namespace fs = std::filesystem;

constexpr std::uint32_t kNormal = ACL_MEM_MALLOC_NORMAL_ONLY;

// A newcomer is refused with these words.
void expect_refused(const Settings& settings, const std::vector<std::string>& words) {
  const Member comer{settings};
  EXPECT_EQ(comer.ask({Do::init}).code, 500000);
  EXPECT_EQ(comer.set_device(0), 507033);
  const std::string message = comer.message();
  for (const std::string& word : words) EXPECT_NE(message.find(word), std::string::npos) << message;
}

// The directory of the machine below the place; there is one.
fs::path directory_of(const TestMachine& machine) {
  for (const auto& entry : fs::directory_iterator(machine.place())) return entry.path();
  ADD_FAILURE() << "the machine has no directory";
  return {};
}
std::vector<fs::path> links_of(const TestMachine& machine) {
  std::vector<fs::path> links;
  for (const auto& entry : fs::directory_iterator(directory_of(machine))) {
    if (entry.is_symlink()) links.push_back(entry.path());
  }
  return links;
}

// --- places ---------------------------------------------------------------------------------------------

TEST(MachinePlace, D52_ThePlaceIsMadeIfItIsMissing_ForThisUserOnly) {
  const TestMachine machine;
  const MemberPtr one = machine.join();
  struct stat about {};
  ASSERT_EQ(::stat(machine.place().c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0700U);
  ASSERT_EQ(::stat(directory_of(machine).c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0700U);
}

TEST(MachinePlace, D52_TheRightsOfADirectoryThatWasThereBefore_AreLeftAlone) {
  for (const mode_t mode : {0755U, 01777U, 0700U}) {
    const TestMachine machine;
    ASSERT_EQ(::mkdir(machine.place().c_str(), 0700), 0);
    ASSERT_EQ(::chmod(machine.place().c_str(), mode), 0);
    const MemberPtr one = machine.come();
    const int joined = one->set_device(0);
    if (joined != 0) EXPECT_NE(one->message().find(machine.place()), std::string::npos);
    struct stat about {};
    ASSERT_EQ(::stat(machine.place().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, mode);
  }
}

TEST(MachinePlace, D52_APlaceThatCannotBeUsed_IsToldInWords) {
  const Scratch scratch;
  const std::string file = scratch.write("file", "text");
  const auto at = [&](const std::string& place) {
    return Settings{{"BELAY_MACHINES", place}, {"BELAY_MACHINE", "test"}, {"BELAY_HBM", "64M"}};
  };
  expect_refused(at(file), {file, "not a directory"});
  expect_refused(at(file + "/below"), {file + "/below"});
  expect_refused(at(scratch.sub("missing/below")), {scratch.sub("missing/below")});
  expect_refused(at("relative/path"), {"relative/path", "BELAY_MACHINES"});
  expect_refused(at("/proc"), {"/proc"});
  EXPECT_EQ(read_text(file), "text");
}

TEST(MachinePlace, D52_ADirectoryThatOthersMayWriteTo_IsNotUsedForTheMachine) {
  const TestMachine machine;
  { const MemberPtr one = machine.join(); }
  const fs::path directory = directory_of(machine);
  ASSERT_EQ(::chmod(directory.c_str(), 0777), 0);
  expect_refused(machine.settings(), {directory.string()});
  struct stat about {};
  ASSERT_EQ(::stat(directory.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0777U);
}

TEST(MachinePlace, D52_ADirectoryOfAnotherUser_IsNotUsedForTheMachine) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory to another user";
  const TestMachine machine;
  { const MemberPtr one = machine.join(); }
  const fs::path directory = directory_of(machine);
  ASSERT_EQ(::chown(directory.c_str(), 12345, 12345), 0);
  expect_refused(machine.settings(), {directory.string(), "another user"});
}

// As an ordinary user, because root may write everywhere.
TEST(MachinePlace, D52_APlaceWithoutTheRightToWrite_IsToldInWords) {
  const TestMachine machine;
  ASSERT_EQ(::mkdir(machine.place().c_str(), 0555), 0);
  ASSERT_EQ(::chmod(machine.place().c_str(), 0555), 0);
  ASSERT_EQ(::chmod(fs::path{machine.place()}.parent_path().c_str(), 0755), 0);
  const Own as_nobody = [](const Order&) {
    Answer answer;
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return answer;
    answer.code = aclrtSetDevice(0);
    return answer;
  };
  const MemberPtr one = machine.come(as_nobody);
  EXPECT_EQ(one->ask({Do::own}).code, 507033);
  EXPECT_NE(one->message().find(machine.place()), std::string::npos);
}

// Who named neither a machine nor a place gets a machine of its own where there is no place.
TEST(MachinePlace, D52_OneNameIsEnoughToExpectOthers) {
  const Scratch scratch;
  const std::string file = scratch.write("file", "text");
  const Own without_a_name = [](const Order&) {
    ::unsetenv("BELAY_MACHINE");
    Answer answer;
    answer.code = aclrtSetDevice(0);
    return answer;
  };
  const Member one{{{"BELAY_MACHINES", file}}, without_a_name};
  EXPECT_EQ(one.ask({Do::own}).code, 507033) << "the place was named, so others are expected there";
}

// --- small places ---------------------------------------------------------------------------------------

// Runs a body where the place of a machine is a file system with so many files and 4 KB.
void in_a_small_place(const TestMachine& machine, const char* options, const std::function<void()>& body) {
  bool possible = true;
  const belay_test::Ending ending = run_captured({}, [&] {
    ::mkdir(machine.place().c_str(), 0700);
    if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", machine.place().c_str(), "tmpfs", 0, options) != 0) {
      ::_exit(77);
    }
    body();
  });
  possible = !(WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77);
  if (!possible) GTEST_SKIP() << "mounting needs root and a kernel that allows it";
  EXPECT_TRUE(ending.clean()) << ending;
}

TEST(MachinePlace, D52_TheStateOfTheMachineNeedsNoRoomThere) {
  const TestMachine machine;
  in_a_small_place(machine, "size=4k,nr_inodes=16,mode=0700", [&] {
    std::ofstream{machine.place() + "/full"} << std::string(8192, 'x');  // what fits
    const MemberPtr one = machine.join(), two = machine.join(), three = machine.join();
    const std::uint64_t block = one->allocate(30 * kMB);
    EXPECT_NE(block, 0U);
    EXPECT_EQ(one->write(block, kMB, 3), 0);
    EXPECT_EQ(two->free_now(), 34 * kMB);
    EXPECT_TRUE(one->verify(block, kMB, 3));
    one->die();
    EXPECT_NE(three->allocate(64 * kMB), 0U);
    EXPECT_EQ(two->free_now(), 0U);
  });
}

TEST(MachinePlace, D52_NoRoomForALink_IsToldInWords) {
  for (const char* inodes : {"nr_inodes=1", "nr_inodes=2", "nr_inodes=3"}) {
    const TestMachine machine;
    in_a_small_place(machine, (std::string{"size=4k,mode=0700,"} + inodes).c_str(), [&] {
      const MemberPtr one = machine.come();
      if (one->set_device(0) != 0) {
        EXPECT_NE(one->message().find(machine.place()), std::string::npos);
      } else {
        EXPECT_EQ(one->free_now(), 64 * kMB);
      }
    });
    if (IsSkipped()) return;
  }
}

// Full while a machine runs on it: who is on it goes on, who comes is refused, and later comers get on.
TEST(MachinePlace, D52_APlaceThatIsFullForAWhile) {
  const TestMachine machine;
  in_a_small_place(machine, "size=64k,nr_inodes=12,mode=0700", [&] {
    const MemberPtr one = machine.join(), two = machine.join();
    EXPECT_NE(one->allocate(kMB), 0U);
    std::vector<std::string> fillers;
    for (int i = 0;; ++i) {
      const std::string path = machine.place() + "/filler" + std::to_string(i);
      if (::symlink("nowhere", path.c_str()) != 0) break;
      fillers.push_back(path);
    }
    EXPECT_EQ(two->free_now(), 63 * kMB);
    const MemberPtr comer = machine.come();
    EXPECT_EQ(comer->set_device(0), 507033);
    EXPECT_NE(one->allocate(kMB), 0U);
    for (const std::string& path : fillers) ::unlink(path.c_str());
    EXPECT_EQ(machine.join()->free_now(), 62 * kMB);
  });
}

// --- rubbish --------------------------------------------------------------------------------------------

TEST(MachinePlace, D52_RubbishInTheDirectory_IsNoMember) {
  const TestMachine machine;
  MemberPtr one = machine.join();
  ASSERT_NE(one->allocate(kMB), 0U);
  const fs::path directory = directory_of(machine);
  const auto rubbish = [&] {
    std::vector<std::string> names = {"lead.",
                                      "lead.zz",
                                      "lead.ffffffffffffffff",
                                      "lead.-1",
                                      "member.",
                                      "member.1.2.3",
                                      "member.1.2.3.4",
                                      "member.x.y.z",
                                      "founder.2.1.1",
                                      "a",
                                      ".hidden",
                                      "member.0000000000000001.1.1.1.new"};
    for (const std::string& name : names) std::ofstream{directory / ("file-" + name)} << "x";
    for (const std::string& name : names) (void)::symlink("/nowhere", (directory / name).c_str());
    // Links that look like those of live processes, this one and the first of all.
    const std::string me = std::to_string(::getpid());
    for (const char* target : {"/nowhere", "/etc/passwd", "/dev/null", "/proc/self/exe", "/"}) {
      static int count = 0;
      (void)::symlink(
          target,
          (directory / ("member.0000000000000001." + me + "." + std::to_string(++count) + ".1")).c_str());
    }
    (void)::mkfifo((directory / "member.0000000000000001.1.0.0").c_str(), 0600);
    (void)::mkdir((directory / "lead.0000000000000000").c_str(), 0700);
  };
  rubbish();
  const MemberPtr two = machine.join();
  EXPECT_EQ(two->free_now(), 63 * kMB);
  one->die();
  EXPECT_EQ(two->free_now(), 64 * kMB);
  two->die();
  rubbish();
  const MemberPtr three = machine.join();
  EXPECT_EQ(three->free_now(), 64 * kMB);
  ASSERT_NE(three->allocate(kMB), 0U);
  EXPECT_EQ(machine.join()->free_now(), 63 * kMB);
}

// The names of its links, but other things behind them.
TEST(MachinePlace, D52_LinksThatLeadElsewhere_AreNotFollowed) {
  const Scratch scratch;
  const std::string file = scratch.write("file", std::string(1 << 20, 'x'));
  const std::string pipe = scratch.sub("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const int foreign = ::memfd_create("belay-machine", 0);
  ASSERT_EQ(::ftruncate(foreign, 1 << 20), 0);
  const std::string memory = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(foreign);
  for (const std::string& target : {std::string{"/nowhere"}, file, pipe, memory, std::string{"/dev/zero"},
                                    std::string{"/proc/1/fd/0"}, std::string{"loop"}}) {
    SCOPED_TRACE(target);
    const TestMachine machine;
    { const MemberPtr one = machine.join(); }
    for (const fs::path& link : links_of(machine)) {
      ASSERT_EQ(::unlink(link.c_str()), 0);
      ASSERT_EQ(::symlink((target == "loop" ? link.string() : target).c_str(), link.c_str()), 0);
    }
    const MemberPtr next = machine.join();
    EXPECT_EQ(next->free_now(), 64 * kMB);
    ASSERT_NE(next->allocate(kMB), 0U);
    EXPECT_EQ(machine.join()->free_now(), 63 * kMB);
  }
  EXPECT_EQ(read_text(file), std::string(1 << 20, 'x'));
  ::close(foreign);
}

TEST(MachinePlace, D52_WhoeverRemovesTheLinks_DoesNotHarmThoseWhoAreOnTheMachine) {
  const TestMachine machine;
  const MemberPtr one = machine.join(), two = machine.join();
  ASSERT_NE(one->allocate(kMB), 0U);
  fs::remove_all(machine.place());
  EXPECT_EQ(two->free_now(), 63 * kMB);
  ASSERT_NE(two->allocate(kMB), 0U);
  one->die();
  EXPECT_EQ(two->free_now(), 63 * kMB);
  EXPECT_EQ(machine.join()->free_now(), 64 * kMB) << "nobody knows of the other machine any more";
  EXPECT_EQ(two->free_now(), 63 * kMB);
}

// --- the state itself -----------------------------------------------------------------------------------

int open_state(const TestMachine& machine) {
  for (const fs::path& link : links_of(machine)) {
    const int file = ::open(link.c_str(), O_RDWR | O_CLOEXEC);
    if (file >= 0) return file;
  }
  return -1;
}

TEST(MachinePlace, D52_NobodyCanMakeTheStateShorterOrLonger) {
  const TestMachine machine;
  const MemberPtr one = machine.join();
  ASSERT_NE(one->allocate(kMB), 0U);
  const int file = open_state(machine);
  ASSERT_GE(file, 0);
  struct stat about {};
  ASSERT_EQ(::fstat(file, &about), 0);
  for (const off_t size : {off_t{0}, off_t{4096}, about.st_size - 1, about.st_size * 2}) {
    EXPECT_NE(::ftruncate(file, size), 0);
    EXPECT_EQ(errno, EPERM);
  }
  ::close(file);
  EXPECT_EQ(one->free_now(), 63 * kMB);
}

TEST(MachinePlace, D52_AStateThatWasOverwritten_IsNotJoined_AndTheReasonTold) {
  for (const std::size_t at : {0U, 8U, 12U, 100U}) {
    SCOPED_TRACE(at);
    const TestMachine machine;
    MemberPtr one = machine.join();
    const int file = open_state(machine);
    ASSERT_GE(file, 0);
    ASSERT_EQ(::pwrite(file, "\xFF\xFE\xFD", 3, static_cast<off_t>(at)), 3);
    ::close(file);
    expect_refused(machine.settings(), {"'test'", "cannot be joined"});
    one->die();
    EXPECT_EQ(machine.join()->free_now(), 64 * kMB) << "the damage goes with its process";
  }
}

// --- poor processes -------------------------------------------------------------------------------------

TEST(MachinePlace, D52_WithoutFileDescriptors_TheRefusalSaysSo) {
  if (kUnderASanitizer) GTEST_SKIP() << "the sanitizer needs descriptors of its own for its checks";
  const Own poor = [](const Order& order) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t had = limit.rlim_cur;
    limit.rlim_cur = order.size;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    Answer answer;
    answer.code = aclrtSetDevice(0);
    limit.rlim_cur = had;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return answer;
  };
  // Standard input, output and error are open, perhaps more; then so many may be opened.
  for (std::uint64_t descriptors = 3; descriptors < 14; ++descriptors) {
    SCOPED_TRACE(descriptors);
    for (const bool others : {true, false}) {
      const TestMachine machine;
      for (int generation = 0; generation < 3; ++generation) (void)machine.join();
      const MemberPtr one = others ? machine.join() : nullptr;
      if (others) ASSERT_NE(one->allocate(kMB), 0U);
      const MemberPtr comer = machine.come(poor);
      const Answer answer = comer->ask({Do::own, 0, 0, descriptors});
      EXPECT_TRUE(answer.code == 0 || answer.code == 507033) << answer.code;
      const std::string message = comer->message();
      if (answer.code != 0) EXPECT_NE(message.find("descriptor"), std::string::npos) << message;
      if (answer.code == 0) EXPECT_EQ(comer->free_now(), others ? 63 * kMB : 64 * kMB);
      EXPECT_EQ(machine.join()->free_now(), others ? 63 * kMB : 64 * kMB) << "the machine was torn apart";
    }
  }
}

TEST(MachinePlace, D52_WhereFilesMustBeShort_TheRefusalSaysSo) {
  const TestMachine machine;
  const Own short_files = [](const Order&) {
    const rlimit limit{64 * kKB, 64 * kKB};  // room for the log
    ::setrlimit(RLIMIT_FSIZE, &limit);
    Answer answer;
    answer.code = aclrtSetDevice(0);
    return answer;
  };
  const MemberPtr comer = machine.come(short_files);
  EXPECT_EQ(comer->ask({Do::own}).code, 507033);
  EXPECT_NE(comer->message().find("ulimit -f"), std::string::npos);
  const MemberPtr one = machine.join();
  ASSERT_NE(one->allocate(kMB), 0U);
}

// --- processes that nobody may look into ----------------------------------------------------------------

// As an ordinary user, because root may look into every process. A process that is not dumpable hides its
// files.
Answer join_as_a_user(const Order& order) {
  Answer answer;
  if (::geteuid() == 0 && (::setresgid(65534, 65534, 65534) != 0 || ::setresuid(65534, 65534, 65534) != 0))
    return answer;
  ::prctl(PR_SET_DUMPABLE, order.small, 0, 0, 0);
  answer.code = aclrtSetDevice(0);
  return answer;
}

void let_a_user_in(const TestMachine& machine) {
  ASSERT_EQ(::mkdir(machine.place().c_str(), 0700), 0);
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(machine.place().c_str(), 65534, 65534), 0);
  ASSERT_EQ(::chmod(fs::path{machine.place()}.parent_path().c_str(), 0755), 0);
}

// For an ordinary user the kernel shuts the files of a process that has ended and was not fetched yet.
TEST(MachinePlace, D52_D66_TheDeadOfAnOrdinaryUser_DoNotKeepOthersOut) {
  for (const std::uint32_t dumpable : {1U, 0U}) {
    SCOPED_TRACE(dumpable == 1 ? "ordinary" : "hidden");
    const TestMachine machine;
    let_a_user_in(machine);
    const MemberPtr dead = machine.come(join_as_a_user);
    ASSERT_EQ(dead->ask({Do::own, dumpable}).code, 0) << dead->message();
    ASSERT_NE(dead->allocate(kMB), 0U);
    dead->die();
    const MemberPtr next = machine.come(join_as_a_user);
    ASSERT_EQ(next->ask({Do::own, 1}).code, 0) << next->message();
    EXPECT_EQ(next->free_now(), 64 * kMB);
    const MemberPtr another = machine.come(join_as_a_user);
    ASSERT_EQ(another->ask({Do::own, 1}).code, 0) << another->message();
    ASSERT_NE(another->allocate(5 * kMB), 0U);
    EXPECT_EQ(next->free_now(), 59 * kMB);
    another->die();
    EXPECT_EQ(next->free_now(), 64 * kMB);
  }
}

TEST(MachinePlace, D52_D66_AProcessThatHidesItsFiles_KeepsItsMemory_AndOthersAreToldWhyTheyCannotFollow) {
  const TestMachine machine;
  let_a_user_in(machine);
  const MemberPtr hidden = machine.come(join_as_a_user);
  ASSERT_EQ(hidden->ask({Do::own, 0}).code, 0) << hidden->message();
  ASSERT_NE(hidden->allocate(kMB), 0U);
  {
    const MemberPtr comer = machine.come(join_as_a_user);
    ASSERT_EQ(comer->ask({Do::own, 1}).code, 507033);
    const std::string message = comer->message();
    EXPECT_NE(message.find(std::to_string(hidden->process())), std::string::npos) << message;
  }
  hidden->die();
  const MemberPtr open = machine.come(join_as_a_user);
  ASSERT_EQ(open->ask({Do::own, 1}).code, 0) << open->message();
  const MemberPtr second = machine.come(join_as_a_user), third = machine.come(join_as_a_user);
  ASSERT_EQ(second->ask({Do::own, 0}).code, 0) << second->message();
  ASSERT_EQ(third->ask({Do::own, 1}).code, 0) << third->message();
  EXPECT_NE(second->allocate(2 * kMB), 0U);
  EXPECT_EQ(third->free_now(), 62 * kMB);
  EXPECT_EQ(open->free_now(), 62 * kMB);
  second->die();
  EXPECT_EQ(open->free_now(), 64 * kMB);
}

// --- process numbers that are not shared ----------------------------------------------------------------

// In a container, with process numbers of its own but the same directory.
TEST(MachinePlace, D52_ContainersThatShareTheDirectory_DoNotDisturbEachOther) {
  const TestMachine machine;
  const MemberPtr outside = machine.join();
  ASSERT_NE(outside->allocate(kMB), 0U);
  const belay_test::Ending ending = run_captured({}, [&] {
    if (::unshare(CLONE_NEWNS | CLONE_NEWPID) != 0) ::_exit(77);
    const pid_t inside = ::fork();
    if (inside == 0) {
      if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("proc", "/proc", "proc", 0, nullptr) != 0) {
        ::_exit(77);
      }
      const MemberPtr one = machine.join();
      EXPECT_EQ(one->free_now(), 64 * kMB) << "a machine of its own";
      EXPECT_NE(one->allocate(2 * kMB), 0U);
      const MemberPtr two = machine.join();
      EXPECT_EQ(two->free_now(), 62 * kMB);
      one->die();
      EXPECT_EQ(two->free_now(), 64 * kMB);
      std::fflush(nullptr);
      ::_exit(::testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    while (::waitpid(inside, &status, 0) < 0) {
    }
    std::fflush(nullptr);
    ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  });
  if (WIFEXITED(ending.status) && WEXITSTATUS(ending.status) == 77)
    GTEST_SKIP() << "process numbers of one's own need root and a kernel that allows it";
  EXPECT_TRUE(ending.clean()) << ending;
  EXPECT_EQ(outside->free_now(), 63 * kMB);
  EXPECT_EQ(machine.join()->free_now(), 63 * kMB);
}

}  // namespace machine_place_test
