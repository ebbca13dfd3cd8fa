// What further threads add: pairs on 1 to 8 threads, and blocks that one thread allocates and another one
// frees.
//
// "threads/ALLOCATOR/BYTES" is the time of a pair, all threads together. "threads/loop/0" is the same for a
// loop in which threads share nothing: what this machine has to give. See docs/performance.md.
#include <fmt/format.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "peers.h"
#include "program.h"
#include "sizes.h"

namespace bench {
namespace {

constexpr std::size_t kSizes[] = {64 * kKilo, 2 * kMega};
constexpr int kThreads[] = {1, 2, 4, 8};

constexpr std::chrono::milliseconds kWindow{5};

// A processor for each thread, as long as there are enough: for a few milliseconds the kernel likes to leave
// new threads together where they were made. The thread may run anywhere again when this ends.
class OnOwnProcessor {
 public:
  OnOwnProcessor(std::size_t number, std::size_t threads) {
    if (sched_getaffinity(0, sizeof allowed_, &allowed_) != 0) fail("sched_getaffinity");
    if (threads > static_cast<std::size_t>(CPU_COUNT(&allowed_))) return;
    std::size_t processor = 0;
    for (std::size_t to_skip = number; to_skip > 0 || !CPU_ISSET(processor, &allowed_); ++processor) {
      if (CPU_ISSET(processor, &allowed_)) --to_skip;
    }
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    CPU_SET(processor, &chosen);
    sched_setaffinity(0, sizeof chosen, &chosen);
  }
  ~OnOwnProcessor() { sched_setaffinity(0, sizeof allowed_, &allowed_); }
  OnOwnProcessor(const OnOwnProcessor&) = delete;
  OnOwnProcessor& operator=(const OnOwnProcessor&) = delete;

 private:
  cpu_set_t allowed_;
};

// Lets `threads` threads work for a while, all from the same moment on, and tells how long a piece of work
// took, all threads together. Google Benchmark's own threads are not for this: it measures each from when
// that one started, so threads that ran one after the other would look as if they had run at once.
// `make_work` is called in each thread and returns what the thread then does again and again.
template <class MakeWork>
double seconds_each(int threads, MakeWork&& make_work) {
  using Clock = std::chrono::steady_clock;
  constexpr int kBetweenLooks = 1000;
  Clock::time_point start;
  std::barrier ready{threads, [&]() noexcept { start = Clock::now(); }};
  std::vector<double> per_second(static_cast<std::size_t>(threads));
  const auto run = [&](std::size_t number) {
    const OnOwnProcessor processor{number, per_second.size()};
    auto work = make_work();
    for (int i = 0; i < kBetweenLooks; ++i) work();
    ready.arrive_and_wait();
    double done = 0;
    Clock::duration passed{};
    while (passed < kWindow) {
      for (int i = 0; i < kBetweenLooks; ++i) work();
      done += kBetweenLooks;
      passed = Clock::now() - start;
    }
    per_second[number] = done / std::chrono::duration<double>(passed).count();
  };
  {
    std::vector<std::jthread> team;
    for (std::size_t number = 0; number < per_second.size(); ++number) team.emplace_back(run, number);
  }
  return 1 / std::accumulate(per_second.begin(), per_second.end(), 0.0);
}

// A repeat is one window of time.
template <class MakeWork>
void add_team(const std::string& name, int threads, MakeWork make_work) {
  benchmark::RegisterBenchmark(fmt::format("{}/{}", name, threads).c_str(),
                               [=](benchmark::State& state) {
                                 for (auto _ : state)
                                   state.SetIterationTime(seconds_each(threads, make_work));
                               })
      ->UseManualTime()
      ->Iterations(1);
}

template <class Allocator>
auto pairs_of(const Allocator& allocator, std::size_t bytes) {
  return [=] {
    use_device();
    return [=] {
      void* block = allocator.allocate(bytes);
      benchmark::DoNotOptimize(block);
      allocator.release(block);
    };
  };
}

// About what an allocator does, on data of the thread's own: take from a stack, change a word in one step
// that other processors could see, give back. Where two processors are one core's halves, a loop of another
// kind would gain more or less from the second one.
class SharesNothing {
 public:
  void operator()() {
    std::uint32_t taken = stack_[--top_];
    change(1);
    benchmark::DoNotOptimize(taken);
    change(std::uint64_t{0} - 1);
    stack_[top_++] = taken + 1;
  }

 private:
  void change(std::uint64_t by) {
    const std::atomic_ref books{books_};
    std::uint64_t seen = books.load(std::memory_order_relaxed);
    while (!books.compare_exchange_weak(seen, seen + by, std::memory_order_acq_rel)) {
    }
  }
  alignas(256) std::array<std::uint32_t, 64> stack_{};
  std::size_t top_ = stack_.size();
  alignas(8) std::uint64_t books_ = 0;
};

// A ring with one who writes and one who reads.
class Ring {
 public:
  void push(void* block) {
    const std::size_t at = written_.load(std::memory_order_relaxed);
    wait_while([&] { return at - read_.load(std::memory_order_acquire) == blocks_.size(); });
    blocks_[at % blocks_.size()] = block;
    written_.store(at + 1, std::memory_order_release);
  }
  void* pop() {
    const std::size_t at = read_.load(std::memory_order_relaxed);
    wait_while([&] { return at == written_.load(std::memory_order_acquire); });
    void* block = blocks_[at % blocks_.size()];
    read_.store(at + 1, std::memory_order_release);
    return block;
  }

 private:
  template <class Condition>
  static void wait_while(Condition&& condition) {
    for (int tries = 0; condition(); ++tries) {
      if (tries > 1000) std::this_thread::yield();  // the other one may not even be running
    }
  }
  std::array<void*, 1024> blocks_{};
  alignas(128) std::atomic<std::size_t> written_{0};
  alignas(128) std::atomic<std::size_t> read_{0};
};

template <class Allocator>
void hand_over(benchmark::State& state, const Allocator allocator, std::size_t bytes) {
  use_device();
  Ring ring;
  std::jthread consumer{[&] {
    const OnOwnProcessor processor{1, 2};
    use_device();
    while (void* block = ring.pop()) allocator.release(block);
  }};
  const OnOwnProcessor processor{0, 2};
  for (auto _ : state) ring.push(allocator.allocate(bytes));
  ring.push(nullptr);
}

void add_all() {
  for (const int threads : kThreads) {
    add_team("threads/loop/0", threads, [] { return SharesNothing{}; });
    for (const std::size_t bytes : kSizes) {
      for_each_allocator([&](const auto& allocator) {
        add_team(fmt::format("threads/{}/{}", allocator.name, bytes), threads, pairs_of(allocator, bytes));
      });
    }
  }
  for (const std::size_t bytes : kSizes) {
    for_each_allocator([&](const auto& allocator) {
      add(fmt::format("handover/{}/{}", allocator.name, bytes),
          [=](benchmark::State& state) { hand_over(state, allocator, bytes); });
    });
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv, bench::add_all); }
