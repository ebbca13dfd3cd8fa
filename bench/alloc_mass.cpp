#include "alloc_mass.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "peers.h"
#include "program.h"
#include "sizes.h"

namespace bench {
namespace {

constexpr std::size_t kBlockBytes = 4 * kKilo;
constexpr std::size_t kSizes = 500, kLargest = 64 * kMega;

std::vector<std::uint32_t> random_order(std::size_t blocks) {
  std::vector<std::uint32_t> all(blocks);
  std::iota(all.begin(), all.end(), 0U);
  std::shuffle(all.begin(), all.end(), std::mt19937_64{blocks});
  return all;
}

template <class Work>
double seconds_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Either the frees count, or the allocations after them.
template <class Allocator>
void free_in_random_order(benchmark::State& state, const Allocator allocator, std::size_t count,
                          bool frees_count) {
  use_device();
  const std::vector<std::uint32_t> order = random_order(count);
  std::vector<void*> blocks(count);
  const auto allocate_all = [&] {
    for (void*& each : blocks) each = allocator.allocate(kBlockBytes);
  };
  const auto free_all = [&] {
    for (const std::uint32_t each : order) allocator.release(blocks[each]);
  };
  allocate_all();
  free_all();
  allocate_all();
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
    const double frees = seconds_of(free_all);
    const double again = seconds_of(allocate_all);
    state.SetIterationTime(frees_count ? frees : again);
  }
  free_all();
}

// Sizes as they come when shapes vary, each of them now and then.
const std::vector<std::size_t>& many_sizes() {
  static const std::vector<std::size_t> drawn = [] {
    std::mt19937_64 random{kSizes};
    std::uniform_real_distribution<double> exponent{std::log2(4.0 * kKilo), std::log2(double{kLargest})};
    std::vector<std::size_t> sizes(kSizes);
    for (std::size_t& each : sizes) each = static_cast<std::size_t>(std::exp2(exponent(random)));
    std::uniform_int_distribution<std::size_t> which{0, kSizes - 1};
    std::vector<std::size_t> all(1 << 16);
    for (std::size_t& each : all) each = sizes[which(random)];
    return all;
  }();
  return drawn;
}

template <class Allocator>
void pair_of_many_sizes(benchmark::State& state, const Allocator allocator) {
  use_device();
  const std::vector<std::size_t>& sizes = many_sizes();
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(sizes.size()))) {
    for (const std::size_t each : sizes) allocator.release(allocator.allocate(each));
  }
}

}  // namespace

void add_mass() {
  for_each_allocator([&](const auto& allocator) {
    for (const std::size_t count : {std::size_t{1'000}, std::size_t{1'000'000}}) {
      for (const bool frees_count : {true, false}) {
        benchmark::RegisterBenchmark(
            fmt::format("{}/{}/{}", frees_count ? "mass_free" : "mass_again", allocator.name, count).c_str(),
            [=](benchmark::State& state) { free_in_random_order(state, allocator, count, frees_count); })
            ->UseManualTime();
      }
    }
    add(fmt::format("sizes/{}/{}", allocator.name, kSizes),
        [=](benchmark::State& state) { pair_of_many_sizes(state, allocator); });
  });
}

}  // namespace bench
