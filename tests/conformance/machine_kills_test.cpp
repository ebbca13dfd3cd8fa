// Processes are killed at random instants while others allocate, copy, check and free. Afterwards the books
// balance to the byte, nothing hangs, and what survivors wrote is intact.
//
// BELAY_STRESS_KILLS sets how many, BELAY_STRESS_SEED replays a run.
#include <sys/mman.h>
#include <time.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <random>

#include "support/members.h"

namespace {

using namespace belay_test;

constexpr std::size_t kWorkers = 5;
constexpr std::size_t kPage4K = 4096, kPage2M = 2U << 20;

// What a worker tells about itself, in memory that it shares with the test.
struct Told {
  std::atomic<std::uint32_t> resting, faults;
  std::atomic<std::uint64_t> held, rounds;
};
struct Board {
  std::atomic<std::uint32_t> rest, stop;
  std::array<Told, kWorkers> workers;
};

void nap(long microseconds) {
  const timespec time{0, microseconds * 1000};
  ::nanosleep(&time, nullptr);
}

struct Held {
  void* start;
  std::size_t bytes;
  unsigned seed;
};

// Only the ends of a block are written: that is where neighbours would be hit.
std::size_t edge(std::size_t bytes) { return std::min<std::size_t>(bytes / 2, 3000); }

bool mark(const Held& block) {
  const Bytes text = pattern(edge(block.bytes), block.seed);
  void* last = at(block.start, block.bytes - text.size());
  return aclrtMemcpy(block.start, text.size(), text.data(), text.size(), ACL_MEMCPY_HOST_TO_DEVICE) == 0 &&
         aclrtMemcpy(last, text.size(), text.data(), text.size(), ACL_MEMCPY_HOST_TO_DEVICE) == 0;
}

bool intact(const Held& block) {
  const Bytes expected = pattern(edge(block.bytes), block.seed);
  Bytes first(expected.size()), last(expected.size());
  const void* end = at(block.start, block.bytes - expected.size());
  return aclrtMemcpy(first.data(), first.size(), block.start, first.size(), ACL_MEMCPY_DEVICE_TO_HOST) == 0 &&
         aclrtMemcpy(last.data(), last.size(), end, last.size(), ACL_MEMCPY_DEVICE_TO_HOST) == 0 &&
         first == expected && last == expected;
}

[[noreturn]] void work(Board& board, std::size_t me, unsigned seed) {
  Told& told = board.workers[me];
  std::mt19937 random{seed};
  std::vector<Held> blocks;
  const auto fault = [&] { ++told.faults; };
  const auto let_go = [&](std::size_t index) {
    if (!intact(blocks[index])) fault();
    if (aclrtFree(blocks[index].start) != 0) fault();
    told.held -= blocks[index].bytes;
    blocks[index] = blocks.back();
    blocks.pop_back();
  };
  if (aclrtSetDevice(0) != 0) fault();
  while (board.stop == 0) {
    if (board.rest != 0) {
      told.resting = 1;
      while (board.rest != 0) nap(200);
      told.resting = 0;
    }
    const bool huge = random() % 2 == 0;
    const std::size_t unit = huge ? kPage2M : kPage4K;
    const std::size_t bytes = unit * (1 + random() % (huge ? 4 : 64));
    if (random() % 5 < 3) {
      void* start = nullptr;
      const int answer =
          ::aclrtMallocAlign32(&start, bytes, huge ? ACL_MEM_MALLOC_HUGE_ONLY : ACL_MEM_MALLOC_NORMAL_ONLY);
      if (answer == 0) {
        const Held block{start, bytes, static_cast<unsigned>(random())};
        told.held += bytes;
        if (!mark(block)) fault();
        blocks.push_back(block);
      } else if (answer != kShortage) {
        fault();
      }
    }
    if (!blocks.empty() && (random() % 2 == 0 || blocks.size() > 20)) let_go(random() % blocks.size());
    std::size_t free = 0, total = 0;
    if (random() % 8 == 0 && (aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) != 0 || free > total)) fault();
    ++told.rounds;
  }
  while (!blocks.empty()) let_go(blocks.size() - 1);
  ::_exit(told.faults == 0 ? 0 : 1);
}

class Workers {
 public:
  explicit Workers(const TestMachine& machine) : machine_{machine} {
    board_ = static_cast<Board*>(
        ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  ~Workers() {
    for (const pid_t process : processes_) {
      if (process > 0) ::kill(process, SIGKILL);
    }
    ::munmap(board_, sizeof(Board));
  }

  void start(std::size_t index, unsigned seed) {
    Told& told = board_->workers[index];
    told.resting = 0;
    told.held = 0;
    std::fflush(nullptr);
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (const auto& [name, value] : machine_.settings()) ::setenv(name.c_str(), value.c_str(), 1);
      work(*board_, index, seed);
    }
    processes_[index] = child;
  }
  void kill(std::size_t index) {
    ::kill(processes_[index], SIGKILL);
    wait(index);
  }
  int wait(std::size_t index) {
    int status = 0;
    while (::waitpid(processes_[index], &status, 0) < 0 && errno == EINTR) {
    }
    processes_[index] = -1;
    return status;
  }
  void signal(std::size_t index, int number) const { ::kill(processes_[index], number); }

  // All at rest between two steps; false if one of them hangs.
  bool rest() {
    board_->rest = 1;
    for (std::size_t index = 0; index < kWorkers; ++index) {
      signal(index, SIGCONT);
      const auto late = std::chrono::steady_clock::now() + std::chrono::seconds{kHangSeconds};
      while (board_->workers[index].resting == 0) {
        if (std::chrono::steady_clock::now() > late) return false;
        nap(200);
      }
    }
    return true;
  }
  void go_on() {
    board_->rest = 0;
    for (std::size_t index = 0; index < kWorkers; ++index) {
      while (board_->workers[index].resting != 0) nap(100);
    }
  }
  void stop() {
    board_->stop = 1;
    for (std::size_t index = 0; index < kWorkers; ++index) signal(index, SIGCONT);
  }
  std::uint64_t held() const {
    std::uint64_t all = 0;
    for (const Told& told : board_->workers) all += told.held;
    return all;
  }
  std::uint64_t faults() const {
    std::uint64_t all = 0;
    for (const Told& told : board_->workers) all += told.faults;
    return all;
  }
  std::uint64_t rounds() const {
    std::uint64_t all = 0;
    for (const Told& told : board_->workers) all += told.rounds;
    return all;
  }

 private:
  const TestMachine& machine_;
  Board* board_;
  std::array<pid_t, kWorkers> processes_{};
};

TEST(MachineKills, D66_D67_M430_KilledAtRandom_TheBooksBalanceAndSurvivorsKeepTheirData) {
  const std::uint64_t kills = setting("BELAY_STRESS_KILLS", kUnderASanitizer ? 40 : 120);
  const std::uint64_t seed = setting("BELAY_STRESS_SEED", static_cast<std::uint64_t>(::getpid()));
  std::cout << "BELAY_STRESS_SEED=" << seed << " BELAY_STRESS_KILLS=" << kills << std::endl;
  std::mt19937 random{static_cast<unsigned>(seed)};

  // Small enough that they meet the limit again and again.
  const TestMachine machine{"64M"};
  const MemberPtr watcher = machine.join();
  const std::size_t total = watcher->info().total;
  Workers workers{machine};
  for (std::size_t index = 0; index < kWorkers; ++index)
    workers.start(index, static_cast<unsigned>(random()));

  for (std::uint64_t done = 0; done < kills; ++done) {
    nap(static_cast<long>(random() % 3000));
    const std::size_t victim = random() % kWorkers;
    if (random() % 4 == 0) workers.signal(random() % kWorkers, SIGSTOP);
    workers.kill(victim);
    const Member::Figures now = watcher->info();  // the next call of anybody sees a sound device
    ASSERT_LE(now.free, now.total);
    ASSERT_EQ(now.total, total);
    if (random() % 4 == 0) {
      for (std::size_t index = 0; index < kWorkers; ++index) {
        if (index != victim) workers.signal(index, SIGCONT);
      }
    }
    workers.start(victim, static_cast<unsigned>(random()));
    if (done % 10 == 9) {
      ASSERT_TRUE(workers.rest()) << "after " << done << " kills a process hangs";
      ASSERT_EQ(total - watcher->free_now(), workers.held()) << "after " << done << " kills";
      ASSERT_EQ(workers.faults(), 0U);
      workers.go_on();
    }
  }
  workers.stop();
  for (std::size_t index = 0; index < kWorkers; ++index) {
    const int status = workers.wait(index);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "worker " << index << ": " << status;
  }
  EXPECT_EQ(workers.faults(), 0U);
  EXPECT_EQ(watcher->free_now(), total);
  EXPECT_GT(workers.rounds(), kills);
  // All of it can be had again, to the page.
  EXPECT_EQ(watcher->ask({Do::crowd, ACL_MEM_MALLOC_NORMAL_ONLY, 0, kPage2M}).first, total / kPage2M);
}

}  // namespace
