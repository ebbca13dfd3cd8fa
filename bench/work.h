// Pieces of work that are measured with and without somebody who listens.
#pragma once

#include <benchmark/benchmark.h>

namespace bench {

void make_pairs(benchmark::State& state);  // allocate and free 4 KB
void serve(benchmark::State& state);       // a request of the KV-cache trace
void copy(benchmark::State& state);        // 64 KB to the device
void queue(benchmark::State& state);       // 4 KB to the device through a stream

}  // namespace bench
