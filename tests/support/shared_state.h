// The state of a machine without a directory: made by a test, opened by its children.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "machine/page_quota.h"
#include "machine/process_table.h"
#include "machine/state.h"
#include "platform/common_memory.h"
#include "platform/process.h"

namespace belay_test {

inline constexpr const char* kUnitState = "belay-machine-unit-test";

inline belay::machine::Limits no_limits(std::uint64_t total) {
  belay::machine::Limits limits;
  limits.total = total;
  return limits;
}

class SharedState {
 public:
  explicit SharedState(const belay::machine::Limits& limits, std::uint32_t devices = 1)
      : memory_{
            belay::platform::CommonMemory::create(kUnitState, belay::machine::State::bytes_for(devices))} {
    EXPECT_TRUE(memory_.valid());
    belay::machine::Header& header = state().header;
    header.magic = belay::machine::kMagic;
    header.layout = belay::machine::kLayout;
    header.devices = devices;
    header.generation = 1;
    header.bytes = memory_.bytes();
    header.limits = limits;
    header.check = belay::machine::State::check_of(header);
    link_ = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(memory_.file());
  }
  belay::machine::State& state() const { return *reinterpret_cast<belay::machine::State*>(memory_.start()); }
  belay::platform::CommonMemory& memory() { return memory_; }
  const std::string& link() const { return link_; }

 private:
  belay::platform::CommonMemory memory_;
  std::string link_;
};

// A process on that machine. The test itself uses the memory it made, because closing a second descriptor of
// the same file would give its locks away.
struct Here {
  explicit Here(SharedState& shared, std::string directory = "/nowhere")
      : processes{shared.memory(), shared.state(), {std::move(directory), true, "."}, 1} {
    EXPECT_TRUE(processes.claim());
    for (std::size_t i = 0; i < shared.state().header.devices; ++i)
      quotas[i].open(shared.state(), i, processes);
  }
  belay::machine::ProcessTable processes;
  std::array<belay::machine::PageQuota, 4> quotas;
};
// In a forked child.
struct There {
  explicit There(const std::string& link, std::string directory = "/nowhere")
      : opened{belay::platform::CommonMemory::open(link, kUnitState, true, memory)},
        state{reinterpret_cast<belay::machine::State*>(memory.start())},
        processes{memory, *state, {std::move(directory), true, "."}, 1},
        claimed{processes.claim()} {
    for (std::size_t i = 0; i < state->header.devices && claimed; ++i) quotas[i].open(*state, i, processes);
  }
  belay::platform::CommonMemory memory;
  belay::platform::CommonMemory::Opened opened;
  belay::machine::State* state;
  belay::machine::ProcessTable processes;
  bool claimed;
  std::array<belay::machine::PageQuota, 4> quotas;
};

// A child that does something and then stays until it is ended. What it returns is waited for.
class Child {
 public:
  explicit Child(const std::function<int()>& work) {
    std::fflush(nullptr);
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe(ends.data()), 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int answer = work();
      (void)!::write(ends[1], &answer, sizeof answer);
      for (;;) ::pause();
    }
    start_ = belay::platform::start_time(process_).value_or(0);
    ::close(ends[1]);
    pipe_ = ends[0];
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    end();
    ::close(pipe_);
  }
  int answer() const {
    int answer = -1;
    pollfd ready{pipe_, POLLIN, 0};
    EXPECT_EQ(::poll(&ready, 1, 60000), 1) << "process " << process_ << " hangs";
    EXPECT_EQ(::read(pipe_, &answer, sizeof answer), static_cast<ssize_t>(sizeof answer));
    return answer;
  }
  // Dead, but not fetched.
  void kill() const {
    ::kill(process_, SIGKILL);
    siginfo_t about{};
    EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(process_), &about, WEXITED | WNOWAIT), 0);
  }
  void end() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
    process_ = -1;
  }
  pid_t process() const { return process_; }
  std::uint64_t start() const { return start_; }

 private:
  pid_t process_ = -1;
  int pipe_ = -1;
  std::uint64_t start_ = 0;
};

// Memory for counters that parent and children see.
template <class T>
class Common {
 public:
  Common()
      : at_{new (::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) T{}} {
  }
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;
  ~Common() { ::munmap(at_, sizeof(T)); }
  T* operator->() const { return at_; }
  T& operator*() const { return *at_; }

 private:
  T* at_;
};

}  // namespace belay_test
