// What many blocks cost in memory.
//
//   books/belay/LIVE     memory that LIVE blocks of 4 KB take which nobody writes to: what belay knows about
//   them held/ALLOCATOR/MB    what stays with the process when MB megabytes in many blocks were written and
//   freed; at once,
//                        and when it has rested for some seconds
//
// The figures are counters in bytes. Each wants a process of its own that did nothing before.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "peers.h"
#include "process_memory.h"
#include "program.h"
#include "sizes.h"

namespace bench {
namespace {

constexpr std::chrono::seconds kRest{3};

void books(benchmark::State& state, std::size_t live) {
  use_device();
  const DeviceAllocator allocator;
  std::vector<void*> blocks(live, nullptr);  // written, so that it does not count below
  const ProcessMemory before = process_memory();
  for (auto _ : state) {
    for (void*& each : blocks) each = allocator.allocate(4 * kKilo);
  }
  const ProcessMemory after = process_memory();
  const auto count = static_cast<double>(live);
  state.counters["bytes_per_allocation"] = static_cast<double>(after.held - before.held) / count;
  state.counters["page_table_bytes_per_allocation"] =
      static_cast<double>(after.page_tables - before.page_tables) / count;
  for (void* each : blocks) allocator.release(each);
}

void write(const DeviceAllocator&, void* block, std::size_t bytes) {
  check(aclrtMemset(block, bytes, 1, bytes), "aclrtMemset");
}
void write(const HostAllocator&, void* block, std::size_t bytes) { std::memset(block, 1, bytes); }

template <class Allocator>
void held(benchmark::State& state, const Allocator& allocator, std::size_t megabytes) {
  use_device();
  std::mt19937_64 random{megabytes};
  std::uniform_real_distribution<double> exponent{std::log2(4.0 * kKilo), std::log2(4.0 * kMega)};
  std::vector<void*> blocks;
  blocks.reserve(megabytes * kMega / (4 * kKilo));
  const ProcessMemory before = process_memory();
  for (auto _ : state) {
    for (std::size_t left = megabytes * kMega; left >= 4 * kKilo;) {
      const std::size_t bytes = std::min(left, static_cast<std::size_t>(std::exp2(exponent(random))));
      left -= bytes;
      blocks.push_back(allocator.allocate(bytes));
      write(allocator, blocks.back(), bytes);
    }
    const ProcessMemory full = process_memory();
    for (void* each : blocks) allocator.release(each);
    const ProcessMemory at_once = process_memory();
    std::this_thread::sleep_for(kRest);
    const ProcessMemory rested = process_memory();
    state.counters["written"] = static_cast<double>(full.held - before.held);
    state.counters["at_once"] = static_cast<double>(at_once.held - before.held);
    state.counters["after_rest"] = static_cast<double>(rested.held - before.held);
    state.counters["page_tables_after_rest"] = static_cast<double>(rested.page_tables - before.page_tables);
  }
}

void add_all() {
  for (const std::size_t live : std::initializer_list<std::size_t>{1'000, 1'000'000}) {
    add(fmt::format("books/belay/{}", live), [=](benchmark::State& state) {
      books(state, live);
    })->Iterations(1);
  }
  for (const std::size_t megabytes : std::initializer_list<std::size_t>{16, 512}) {
    for_each_allocator([&](const auto& allocator) {
      add(fmt::format("held/{}/{}", allocator.name, megabytes), [=](benchmark::State& state) {
        held(state, allocator, megabytes);
      })->Iterations(1);
    });
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv, bench::add_all); }
