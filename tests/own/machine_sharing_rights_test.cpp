// Who may not: other users, processes that were not named or too early, with other numbers or another
// machine, with too few descriptors, or from an exporter that lets nobody look. A code and a message, and no
// byte.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <filesystem>
#include <fstream>

#include "support/sharing.h"
#include "support/waiting.h"

namespace machine_sharing_rights_test {

using namespace belay_test;

constexpr std::size_t k4MB = 4 * kMB, kAll = 64 * kMB;
constexpr uid_t kStranger = 65533;

// As ordinary users, from whom the kernel hides more than from root.
class MachineSharingRights : public ::testing::Test {
 protected:
  void SetUp() override { members_are_users = ::geteuid() == 0; }
  void TearDown() override { members_are_users = false; }
};

// What a process does with a pid, a value and a key that it has been told of.
struct Told {
  std::int32_t pid = 0;
  std::uint64_t value = 0;
  std::string key;
};

// Runs it in a process of its own, and brings back what it says: nothing is good.
std::string in_a_process(const Settings& settings, const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    adopt(settings);
    const std::string said = work();
    const bool written = ::write(ends[1], said.data(), said.size()) == static_cast<ssize_t>(said.size());
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::string all;
  std::array<char, 4096> some{};
  for (ssize_t got = 0; (got = ::read(ends[0], some.data(), some.size())) > 0;)
    all.append(some.data(), static_cast<std::size_t>(got));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) all += " and ended with " + std::to_string(status);
  return all;
}

// The calls of the library with what it was told: all have to be refused, by themselves or for want of a
// device.
std::string imports_nothing(const Told& told) {
  std::string bad;
  if (aclrtSetDevice(0) != 0) return bad;  // it does not even get there
  aclrtDrvMemHandle handle = nullptr;
  const int by_value = aclrtMemImportFromShareableHandle(told.value, 0, &handle);
  if (by_value != kStale && by_value != kRefused) bad += " import by value: " + std::to_string(by_value);
  void* place = nullptr;
  const int by_key = aclrtIpcMemImportByKey(&place, told.key.c_str(), 0);
  if (by_key != kRefused) bad += " import by key: " + std::to_string(by_key);
  std::int32_t me = ::getpid();
  const int named = aclrtMemSetPidToShareableHandle(told.value, &me, 1);
  if (named != kStale && named != kRefused) bad += " naming itself: " + std::to_string(named);
  if (aclrtIpcMemSetImportPid(told.key.c_str(), &me, 1) != kRefused) bad += " naming itself for the key";
  if (aclrtIpcMemClose(told.key.c_str()) != kRefused) bad += " closing";
  return bad;
}

TEST_F(MachineSharingRights, V224_V393_AnotherUser_OpensReadsResizesAndImportsNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can become two other users";
  const TestMachine machine;
  const Party a = party(machine);
  const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB), block = a->allocate(k4MB);
  ASSERT_EQ(a->write(place, kMB, 1), 0);
  const Told told{a.pid(), a.value(handle), a.key(block, k4MB)};
  const std::string at_home = machine.place();
  const auto become_a_stranger = [] {
    return ::setresgid(kStranger, kStranger, kStranger) == 0 &&
           ::setresuid(kStranger, kStranger, kStranger) == 0;
  };
  const std::string said = in_a_process({}, [&]() -> std::string {
    if (!become_a_stranger()) return "stays root";
    std::string bad;
    std::error_code hidden;
    const std::string process = "/proc/" + std::to_string(told.pid);
    for (const auto& each : std::filesystem::directory_iterator(process + "/fd", hidden))
      bad += " sees " + each.path().string();
    for (int descriptor = 0; descriptor < 200; ++descriptor) {
      const std::string name = process + "/fd/" + std::to_string(descriptor);
      for (const int how : {O_RDONLY, O_RDWR, O_WRONLY | O_TRUNC}) {
        if (::open(name.c_str(), how) >= 0) bad += " opens " + name;
      }
      if (::truncate(name.c_str(), 0) == 0) bad += " truncates " + name;
    }
    if (::open((process + "/mem").c_str(), O_RDONLY) >= 0) bad += " opens its memory";
    const long watched = ::syscall(SYS_pidfd_open, told.pid, 0);
    if (watched >= 0 && ::syscall(SYS_pidfd_getfd, watched, 3, 0) >= 0) bad += " fetches a descriptor";
    if (::kill(told.pid, SIGTERM) == 0) bad += " ends it";
    std::filesystem::recursive_directory_iterator inside{at_home, hidden};
    if (!hidden && inside != std::filesystem::recursive_directory_iterator{}) bad += " looks into " + at_home;
    if (std::ofstream{at_home + "/mine"}) bad += " writes into " + at_home;
    return bad;
  });
  EXPECT_EQ(said, "");
  // With the library, at the place of the other, and at its own.
  for (const bool at_its_own : {false, true}) {
    const Scratch mine;
    ASSERT_EQ(::chown(mine.path().c_str(), kStranger, kStranger), 0);
    const std::string result = in_a_process({}, [&]() -> std::string {
      for (const auto& [name, value] : machine.settings()) {
        if (name != kAsAUser) ::setenv(name.c_str(), value.c_str(), 1);
      }
      ::setenv("ASCEND_PROCESS_LOG_PATH", mine.sub("log").c_str(), 1);
      if (at_its_own) ::setenv("BELAY_MACHINES", mine.sub("machines").c_str(), 1);
      return become_a_stranger() ? imports_nothing(told) : "stays root";
    });
    EXPECT_EQ(result, "") << at_its_own;
  }
  EXPECT_TRUE(a->verify(place, kMB, 1));
  EXPECT_EQ(a->free_now(), kAll - 2 * k4MB);
}

TEST_F(MachineSharingRights, V229_V245_V413_APrivateMachine_AndOneOfAnotherName_KnowNothingOfIt) {
  const TestMachine machine;
  const Party a = party(machine);
  const Told told{a.pid(), a.value(a.physical(k4MB)), a.key(a->allocate(k4MB), k4MB)};
  for (const char* const name : {"private", "another"}) {
    Settings elsewhere = machine.with({{"BELAY_MACHINE", name}});
    EXPECT_EQ(in_a_process(elsewhere, [&] { return imports_nothing(told); }), "") << name;
  }
  // In a private machine what is exported is so for the process itself.
  const Party alone{
      std::make_unique<Member>(machine.with({{"BELAY_MACHINE", "private"}}), sharing::carry_out)};
  ASSERT_EQ(alone->set_device(0), 0);
  const std::uint64_t block = alone->allocate(k4MB);
  ASSERT_EQ(alone->write(block, kMB, 3), 0);
  const Answer key = alone.export_key(block, k4MB);
  if (key.code == 0) {
    EXPECT_TRUE(alone->verify(alone.imported(key.text.data()), kMB, 3));
  } else {
    EXPECT_NE(alone->message().find("private"), std::string::npos) << alone->message();
  }
}

// All numbers of the next 65535 processes are named, and one of them starts a while after.
TEST_F(MachineSharingRights, V242_V403_V464_WhoWasNamedBeforeItStarted_IsRefused_UntilItIsNamedAgain) {
  const TestMachine machine;
  const Party a = party(machine);
  const std::uint64_t value = a.value(a.physical(k4MB), kListed);
  const std::string key = a.key(a->allocate(k4MB), k4MB, kListed);
  const std::int32_t first = a.pid() + 1;
  ASSERT_EQ(a.allow_value(value, first, 65535), 0);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(a.allow_key(key, first + i * 31, 31), 0);
  let_time_pass(std::chrono::milliseconds{50});  // the kernel counts starts in hundredths of a second
  const Party b = party(machine);
  if (b.pid() < first || b.pid() >= first + 3100) GTEST_SKIP() << "process numbers began anew meanwhile";
  EXPECT_EQ(b.import_value(value).code, kRefused);
  EXPECT_NE(b->message().find("start"), std::string::npos) << b->message();
  EXPECT_EQ(b.import_key(key).code, kRefused);
  EXPECT_EQ(a.allow_value(value, b.pid()), 0);
  EXPECT_EQ(a.allow_key(key, b.pid()), 0);
  EXPECT_EQ(b.import_value(value).code, 0) << b->message();
  EXPECT_EQ(b.import_key(key).code, 0) << b->message();
}

// The kernel lets nobody open its files; then the message says so.
TEST_F(MachineSharingRights, V253_V413_AnExporterThatCannotBeTraced_IsToldOf_AndOthersAreNotConcerned) {
  const TestMachine machine;
  const Party other = party(machine), b = party(machine);
  const Party a{machine.join([](const Order& order) {
    if (order.small == 600) {
      Answer answer;
      answer.code = ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
      return answer;
    }
    return sharing::carry_out(order);
  })};
  ASSERT_EQ(a->ask({Do::own, 600}).code, 0);
  const std::uint64_t handle = a.physical(k4MB), place = a.map(handle, k4MB), block = a->allocate(k4MB);
  ASSERT_EQ(a->write(place, kMB, 1), 0);
  ASSERT_EQ(a->write(block, kMB, 2), 0);
  const Answer imported = b.import_value(a.value(handle));
  if (imported.code == 0) {
    EXPECT_TRUE(b->verify(b.map(imported.first, k4MB), kMB, 1));
  } else {
    EXPECT_EQ(imported.code, kRefused);
    const std::string message = b->message();
    EXPECT_NE(message.find(std::to_string(a.pid())), std::string::npos) << message;
    EXPECT_NE(message.find("PR_SET_DUMPABLE"), std::string::npos) << message;
  }
  const Answer pointer = b.import_key(a.key(block, k4MB));
  if (pointer.code == 0) {
    EXPECT_TRUE(b->verify(pointer.first, kMB, 2));
  } else {
    EXPECT_EQ(pointer.code, kRefused);
    EXPECT_NE(b->message().find("PR_SET_DUMPABLE"), std::string::npos);
  }
  // What the others share goes on; and the books of all are right.
  const std::uint64_t theirs = other.physical(k2MB);
  EXPECT_EQ(b.import_value(other.value(theirs)).code, 0) << b->message();
  EXPECT_EQ(b->free_now(), kAll - 2 * k4MB - k2MB);
  a->die();
  EXPECT_EQ(b->free_now() + (imported.code == 0 ? k4MB : 0), kAll - k2MB);
}

// Thirty exporters, and fewer descriptors than they have files.
TEST_F(MachineSharingRights, V253_FewDescriptors_RefuseInWords_OrItWorks) {
  const TestMachine machine{"256M"};
  const Party b{machine.join([](const Order& order) {
    if (order.small == 600) {
      // So many more than are open now.
      const int next = ::dup(0);
      ::close(next);
      const auto limit = static_cast<rlim_t>(next) + order.size;
      const rlimit few{limit, limit};
      Answer answer;
      answer.code = ::setrlimit(RLIMIT_NOFILE, &few);
      return answer;
    }
    return sharing::carry_out(order);
  })};
  ASSERT_EQ(b->ask({Do::own, 600, 0, 10}).code, 0);
  std::vector<Party> exporters;
  std::vector<std::string> keys;
  for (unsigned i = 0; i < 30; ++i) {
    exporters.push_back(party(machine));
    const std::uint64_t block = exporters.back()->allocate(kMB);
    ASSERT_EQ(exporters.back()->write(block, 4096, i), 0);
    keys.push_back(exporters.back().key(block, kMB));
  }
  std::vector<std::size_t> open;
  std::size_t refused = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Answer answer = b.import_key(keys[i]);
    if (answer.code == 0) {
      EXPECT_TRUE(b->verify(answer.first, 4096, static_cast<unsigned>(i)));
      open.push_back(i);
    } else {
      ++refused;
      ASSERT_EQ(answer.code, kRefused);
      const std::string message = b->message();
      ASSERT_NE(message.find("descriptor"), std::string::npos) << message;
    }
  }
  if (refused > 0) {
    ASSERT_FALSE(open.empty());
    EXPECT_EQ(b.close_key(keys[open.front()]), 0);
    EXPECT_EQ(b.import_key(keys.back()).code, 0) << "there is room again: " << b->message();
  }
  // Many keys of one process need no more.
  const Party last = party(machine);
  const std::uint64_t block = last->allocate(4 * kMB);
  EXPECT_EQ(b.close_key(keys[open.back()]), open.back() == 0 ? kRefused : 0);
  for (std::size_t i = 0; i < 300; ++i)
    ASSERT_EQ(b.import_key(last.key(block + i * 4096, 4096)).code, 0) << i << ": " << b->message();
  EXPECT_EQ(b->free_now(), 256 * kMB - 34 * kMB);
}

// A process that counts processes otherwise: it is refused in words or sees the right bytes.
TEST_F(MachineSharingRights, V241_V253_AnotherPidNamespace) {
  const TestMachine machine;
  const Party a = party(machine);
  const std::uint64_t block = a->allocate(k4MB), handle = a.physical(k4MB);
  ASSERT_EQ(a->write(block, kMB, 6), 0);
  const Told told{a.pid(), a.value(handle), a.key(block, k4MB)};
  const std::string said = in_a_process(machine.settings(), [&]() -> std::string {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return "skip";
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) return "no pipe";
    const pid_t child = ::fork();
    if (child == 0) {
      std::string bad;
      const int joined = aclrtSetDevice(0);
      if (joined == 0) {
        void* place = nullptr;
        const int code = aclrtIpcMemImportByKey(&place, told.key.c_str(), 0);
        Bytes bytes(4096);
        if (code == 0 && (aclrtMemcpy(bytes.data(), 4096, place, 4096, ACL_MEMCPY_DEVICE_TO_HOST) != 0 ||
                          bytes != Bytes(pattern(kMB, 6).begin(), pattern(kMB, 6).begin() + 4096)))
          bad = "wrong bytes";
        if (code != 0 && code != kRefused) bad = "code " + std::to_string(code);
        if (code != 0 && recent_message().size() < 40) bad += " without a message";
        aclrtDrvMemHandle made = nullptr;
        const int by_value = aclrtMemImportFromShareableHandle(told.value, 0, &made);
        if (by_value != 0 && by_value != kRefused && by_value != kStale)
          bad += " by value " + std::to_string(by_value);
      } else if (recent_message().size() < 40) {
        bad = "cannot join, and no message";
      }
      const bool written = ::write(ends[1], bad.data(), bad.size()) == static_cast<ssize_t>(bad.size());
      ::_exit(written ? 0 : 1);
    }
    ::close(ends[1]);
    std::array<char, 1000> text{};
    const ssize_t got = ::read(ends[0], text.data(), text.size());
    int status = 0;
    ::waitpid(child, &status, 0);
    std::string result{text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
    if (status != 0) result += "ended with " + std::to_string(status);
    return result;
  });
  if (said == "skip") GTEST_SKIP() << "this user may not make namespaces here";
  EXPECT_EQ(said, "");
  EXPECT_TRUE(a->verify(block, kMB, 6));
  EXPECT_EQ(a->free_now(), kAll - 2 * k4MB);
}

}  // namespace machine_sharing_rights_test
