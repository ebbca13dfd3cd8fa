// Several processes on one emulated machine, steered step by step through sockets.
//
// The test process itself is not on the machine: it only asks. Each member is a forked child that serves
// orders until its end, however that comes. No answer is waited for longer than a minute.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "support/blocks.h"
#include "support/scratch.h"
#include "support/settings.h"

namespace belay_test {

inline constexpr int kHangSeconds = 60;

enum class Do : std::uint32_t {
  set_device,  // device
  reset,       // device
  allocate,    // size, policy -> pointer; of the current device
  free,        // pointer
  info,        // attribute -> free, total
  write,       // pointer, size, seed: a pattern
  verify,      // pointer, size, seed -> 1 if it is still there
  init,
  message,  // -> text
  own,      // number: one of the functions that the member was started with -> what it returns
  end,      // way
  crowd,    // size: as many blocks as there are -> how many
};
enum class Way : std::uint64_t { exit, quick, abort, segv };

struct Order {
  Do what{};
  std::uint32_t small = 0;
  std::uint64_t pointer = 0, size = 0, seed = 0;
  std::array<char, 136> text{};
};
struct Answer {
  std::int32_t code = -1;
  std::int32_t heard = 0;  // 0: the member did not answer
  std::uint64_t first = 0, second = 0;
  std::array<char, 2048> text{};
};

// What a member may be asked to do besides; made before it is forked.
using Own = std::function<Answer(const Order&)>;

inline Answer carry_out(const Order& order, const Own& own) {
  Answer answer;
  answer.heard = 1;
  void* const pointer = reinterpret_cast<void*>(order.pointer);
  switch (order.what) {
    case Do::set_device:
      answer.code = aclrtSetDevice(static_cast<int>(order.small));
      break;
    case Do::reset:
      answer.code = aclrtResetDevice(static_cast<int>(order.small));
      break;
    case Do::allocate: {
      void* block = nullptr;
      answer.code = ::aclrtMallocAlign32(&block, order.size, policy_of(order.small));
      answer.first = number(block);
      break;
    }
    case Do::free:
      answer.code = aclrtFree(pointer);
      break;
    case Do::info: {
      std::size_t free = 0, total = 0;
      answer.code = aclrtGetMemInfo(static_cast<aclrtMemAttr>(order.small), &free, &total);
      answer.first = free;
      answer.second = total;
      break;
    }
    case Do::write: {
      const Bytes bytes = pattern(order.size, static_cast<unsigned>(order.seed));
      answer.code = aclrtMemcpy(pointer, order.size, bytes.data(), order.size, ACL_MEMCPY_HOST_TO_DEVICE);
      break;
    }
    case Do::verify: {
      Bytes bytes(order.size);
      answer.code = aclrtMemcpy(bytes.data(), order.size, pointer, order.size, ACL_MEMCPY_DEVICE_TO_HOST);
      answer.first = bytes == pattern(order.size, static_cast<unsigned>(order.seed)) ? 1 : 0;
      break;
    }
    case Do::init:
      answer.code = aclInit(nullptr);
      break;
    case Do::message: {
      const char* const text = aclGetRecentErrMsg();
      if (text != nullptr) std::strncpy(answer.text.data(), text, answer.text.size() - 1);
      answer.code = 0;
      break;
    }
    case Do::own:
      answer = own(order);
      answer.heard = 1;
      break;
    case Do::crowd: {
      void* block = nullptr;
      while ((answer.code = ::aclrtMallocAlign32(&block, order.size, policy_of(order.small))) == 0)
        ++answer.first;
      break;
    }
    case Do::end:
      switch (static_cast<Way>(order.size)) {
        case Way::exit:
          std::exit(0);
        case Way::quick:
          ::_exit(0);
        case Way::abort:
          std::abort();
        case Way::segv:
          ::raise(SIGSEGV);
          break;
      }
      break;
  }
  return answer;
}

// A forked child becomes what its settings say. Tests run as root do so in a second pass as an ordinary user,
// because the kernel shows root more of other processes.
inline constexpr const char* kAsAUser = "TEST_AS_A_USER";
inline constexpr uid_t kUser = 65534;

inline void adopt(const Settings& settings) {
  bool as_a_user = false;
  for (const auto& [name, value] : settings) {
    if (name == kAsAUser) {
      as_a_user = true;
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  if (!as_a_user || ::geteuid() != 0) return;
  if (::setresgid(kUser, kUser, kUser) != 0 || ::setresuid(kUser, kUser, kUser) != 0) ::_exit(126);
  ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // as it is for whoever has not changed
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
}

// Serves orders that arrive at a socket until the other end is closed.
[[noreturn]] inline void serve(int socket, const Own& own = {}) {
  Order order;
  while (::recv(socket, &order, sizeof order, MSG_WAITALL) == static_cast<ssize_t>(sizeof order)) {
    const Answer answer = carry_out(order, own);
    if (::send(socket, &answer, sizeof answer, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof answer)) break;
  }
  ::_exit(0);
}

class Member {
 public:
  explicit Member(const Settings& settings, const Own& own = {}) {
    std::fflush(nullptr);
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    process_ = ::fork();
    EXPECT_GE(process_, 0);
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::close(ends[0]);
      // High up, so that it is closed after the library's descriptors when the process becomes another
      // program: whoever hears that it is closed knows that those are as well.
      const int socket = ::fcntl(ends[1], F_DUPFD_CLOEXEC, 400);
      ::close(ends[1]);
      adopt(settings);
      serve(socket, own);
    }
    ::close(ends[1]);
    socket_ = ends[0];
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;
  ~Member() {
    if (process_ > 0) {
      ::kill(process_, SIGKILL);
      wait();
    }
    ::close(socket_);
  }

  pid_t process() const { return process_; }
  bool live() const { return process_ > 0; }

  void send(const Order& order) const {
    EXPECT_EQ(::send(socket_, &order, sizeof order, MSG_NOSIGNAL), static_cast<ssize_t>(sizeof order));
  }
  // Not heard: the member ended, or it took longer than anything may.
  Answer hear(int seconds = kHangSeconds) const {
    Answer answer;
    pollfd ready{socket_, POLLIN, 0};
    const int events = ::poll(&ready, 1, seconds * 1000);
    EXPECT_EQ(events, 1) << "process " << process_ << " hangs";
    if (events != 1) return {};
    return ::recv(socket_, &answer, sizeof answer, MSG_WAITALL) == static_cast<ssize_t>(sizeof answer)
               ? answer
               : Answer{};
  }
  Answer ask(const Order& order) const {
    send(order);
    const Answer answer = hear();
    EXPECT_EQ(answer.heard, 1) << "process " << process_ << " did not answer";
    return answer;
  }
  bool has_answered() const {
    pollfd ready{socket_, POLLIN, 0};
    return ::poll(&ready, 1, 0) == 1;
  }
  // Until the member has closed its end of the socket, by ending or by becoming another program. An answer
  // that it gave before is forgotten.
  bool gone(int seconds = kHangSeconds) const {
    for (;;) {
      pollfd ready{socket_, POLLIN, 0};
      Answer forgotten;
      if (::poll(&ready, 1, seconds * 1000) != 1) return false;
      if (::recv(socket_, &forgotten, sizeof forgotten, 0) <= 0) return true;
    }
  }

  int set_device(std::uint32_t device = 0) const { return ask({Do::set_device, device}).code; }
  int reset(std::uint32_t device = 0) const { return ask({Do::reset, device}).code; }
  // The pointer; 0 when it was refused.
  std::uint64_t allocate(std::size_t size, std::uint32_t policy = ACL_MEM_MALLOC_NORMAL_ONLY) const {
    const Answer answer = ask({Do::allocate, policy, 0, size});
    if (answer.code != 0) {
      EXPECT_EQ(answer.code, kShortage);
    }
    return answer.first;
  }
  int free(std::uint64_t pointer) const { return ask({Do::free, 0, pointer}).code; }
  struct Figures {
    std::size_t free, total;
  };
  Figures info(std::uint32_t attribute = ACL_HBM_MEM) const {
    const Answer answer = ask({Do::info, attribute});
    EXPECT_EQ(answer.code, 0);
    return {answer.first, answer.second};
  }
  std::size_t free_now() const { return info().free; }
  std::string message() const { return ask({Do::message}).text.data(); }
  int write(std::uint64_t pointer, std::size_t size, unsigned seed) const {
    return ask({Do::write, 0, pointer, size, seed}).code;
  }
  bool verify(std::uint64_t pointer, std::size_t size, unsigned seed) const {
    const Answer answer = ask({Do::verify, 0, pointer, size, seed});
    return answer.code == 0 && answer.first == 1;
  }

  // Without fetching it: a zombie stays until wait().
  void die(int signal = SIGKILL) const {
    ::kill(process_, signal);
    until_dead();
  }
  void end(Way way) const {
    send({Do::end, 0, 0, static_cast<std::uint64_t>(way)});
    until_dead();
  }
  void until_dead() const {
    siginfo_t about{};
    const bool ended = gone();
    EXPECT_TRUE(ended) << "process " << process_ << " does not end";
    if (!ended) ::kill(process_, SIGKILL);
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(process_), &about, WEXITED | WNOWAIT), 0);
  }
  int wait() {
    int status = 0;
    while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
    return status;
  }
  void stop() const {
    ::kill(process_, SIGSTOP);
    until_stopped();
  }
  void until_stopped() const {
    siginfo_t about{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(process_), &about, WSTOPPED | WEXITED | WNOWAIT), 0);
    EXPECT_EQ(about.si_code, CLD_STOPPED);
  }
  void go_on() const { ::kill(process_, SIGCONT); }

 private:
  pid_t process_ = -1;
  int socket_ = -1;
};

using MemberPtr = std::unique_ptr<Member>;

inline bool members_are_users = false;

// Each of its tests runs as whoever runs the tests, and once more as an ordinary user if that is root.
class AsRootAndUser : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (std::getenv("TEST_SCENARIO") != nullptr) return;  // a program that a member has become
    if (GetParam() && ::geteuid() != 0) GTEST_SKIP() << "this is an ordinary user already";
    members_are_users = GetParam();
  }
  void TearDown() override { members_are_users = false; }
};
inline std::string name_of_pass(const ::testing::TestParamInfo<bool>& info) {
  return info.param ? "AsAUser" : "AsIs";
}

// A machine that nobody else knows, in a directory of its own.
class TestMachine {
 public:
  explicit TestMachine(const std::string& hbm = "64M", Settings more = {})
      : settings_{{"BELAY_MACHINES", scratch_.sub("machines")},
                  {"BELAY_MACHINE", "test"},
                  {"BELAY_HBM", hbm},
                  {"BELAY_DEVICES", "2"},
                  {"BELAY_LEAKS", "off"}} {
    for (auto& each : more) {
      std::erase_if(settings_, [&](const auto& had) { return had.first == each.first; });
      settings_.push_back(std::move(each));
    }
    if (members_are_users) {
      settings_.emplace_back(kAsAUser, "1");
      settings_.emplace_back("ASCEND_PROCESS_LOG_PATH", scratch_.sub("log"));
      EXPECT_EQ(::chown(scratch_.path().c_str(), kUser, kUser), 0);
    }
  }
  const Settings& settings() const { return settings_; }
  Settings with(const Settings& more) const {
    Settings all = settings_;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  std::string place() const { return scratch_.sub("machines"); }

  // On the machine, with device 0 set.
  MemberPtr join(const Own& own = {}) const {
    MemberPtr member = come(own);
    EXPECT_EQ(member->set_device(0), 0) << member->message();
    return member;
  }
  // A process that has not called anything yet.
  MemberPtr come(const Own& own = {}) const { return std::make_unique<Member>(settings_, own); }

  std::size_t links() const {
    std::size_t count = 0;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place(), ignored))
      count += entry.is_symlink() ? 1 : 0;
    return count;
  }

 private:
  Scratch scratch_;
  Settings settings_;
};

}  // namespace belay_test
