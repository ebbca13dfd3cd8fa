// Several threads that do the same from the same moment on.
#pragma once

#include <alloca.h>
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sched.h>

#include <barrier>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "peers.h"

namespace bench {

inline constexpr std::chrono::milliseconds kWindow{5};

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

// Calls `call` with a stack that begins some cache lines further down, as many as there were calls before.
// Stacks of threads begin at the same place of a page, and where a local variable happens to lie as far into
// its page as a word that belongs to an allocator, a processor takes one for the other at first and a pair
// takes a fifth longer. Which allocator that happens to is chance; it must not happen to one in every repeat.
template <class Call>
void on_shifted_stack(std::size_t lines, Call& call) {
  void* above = alloca(64 * (1 + lines % 16));
  benchmark::DoNotOptimize(above);
  [](Call & inner) __attribute__((noinline)) { inner(); }
  (call);
}

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
  static std::size_t repeats = 0;
  ++repeats;
  const auto work_on = [&](std::size_t number) {
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
  const auto run = [&](std::size_t number) {
    const auto call = [&] { work_on(number); };
    on_shifted_stack(repeats, call);
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

}  // namespace bench
