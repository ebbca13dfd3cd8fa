#include "program.h"

#include <fmt/ranges.h>

#include "machine.h"
#include "peers.h"

namespace bench {

int run(int argc, char** argv, void (*add_all)()) {
  make_room_for_peers(argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("measured_on", describe_machine().dump());
  benchmark::AddCustomContext("missing_peers", fmt::format("{}", fmt::join(peers().missing, "\n")));
  add_all();
  if (benchmark::RunSpecifiedBenchmarks() == 0) return 2;  // a filter that fits nothing is a mistake
  benchmark::Shutdown();
  return 0;
}

}  // namespace bench
