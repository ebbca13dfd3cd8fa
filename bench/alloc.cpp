// What allocating costs: see docs/performance.md. A program of Google Benchmark, with its options;
// `scripts/bench` runs it in parts and in rounds.
//
//   bench_alloc --benchmark_filter=pairs/ --benchmark_enable_random_interleaving=true
//   --benchmark_repetitions=5 bench_alloc --instructions belay:64:1000 [NAME:BYTES:N...]      for callgrind,
//   see alloc_pairs.h
#include <string_view>

#include "alloc_churn.h"
#include "alloc_mass.h"
#include "alloc_pairs.h"
#include "alloc_shapes.h"
#include "peers.h"
#include "program.h"

int main(int argc, char** argv) {
  if (argc > 2 && std::string_view{argv[1]} == "--instructions") {
    bench::make_room_for_peers(argv);
    for (int i = 2; i < argc; ++i) bench::count_pairs(argv[i]);
    return 0;
  }
  return bench::run(argc, argv, [] {
    bench::add_pairs();
    bench::add_churn();
    bench::add_mass();
    bench::add_shapes();
  });
}
