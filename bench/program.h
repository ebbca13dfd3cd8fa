// What all programs made with Google Benchmark have in common.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <utility>

namespace bench {

// A benchmark QUESTION/WHO/POINT whose time is that of the clock on the wall: work that an allocator leaves
// to another thread or to the kernel counts.
template <class Work>
benchmark::internal::Benchmark* add(const std::string& name, Work&& work) {
  return benchmark::RegisterBenchmark(name.c_str(), std::forward<Work>(work))->UseRealTime();
}

// Runs the benchmarks that `add_all` makes, as the options of Google Benchmark say. What machine it was and
// which peers are missing goes into the context of the result. Returns the exit status.
int run(int argc, char** argv, void (*add_all)());

}  // namespace bench
