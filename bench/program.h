// What all programs made with Google Benchmark have in common.
#pragma once

namespace bench {

// Runs the benchmarks that `register_all` makes, as the options of Google Benchmark say. What machine it was
// and which peers are missing goes into the context of the result. Returns the exit status.
int run(int argc, char** argv, void (*register_all)());

}  // namespace bench
