// What further threads add: pairs on 1 to 64 threads, and blocks that one thread allocates and another one
// frees.
//
// "threads/ALLOCATOR/BYTES" is the time of a pair, all threads together. "threads/loop/0" is the same for a
// loop in which threads share nothing: what this machine has to give. See docs/performance.md.
#include <array>
#include <atomic>
#include <thread>

#include "peers.h"
#include "program.h"
#include "sizes.h"
#include "team.h"

namespace bench {
namespace {

constexpr std::size_t kSizes[] = {64 * kKilo, 2 * kMega};
constexpr int kThreads[] = {1, 2, 4, 8, 64};

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
