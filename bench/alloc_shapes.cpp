#include "alloc_shapes.h"

#include <fmt/format.h>

#include "model_shapes.h"
#include "peers.h"
#include "program.h"

namespace bench {
namespace {

constexpr std::uint64_t kSeed = 42;

template <class Allocator>
void replay(benchmark::State& state, const Allocator allocator, const Trace& trace) {
  use_device();
  std::vector<void*> blocks(trace.slots);
  // A whole trace at a time: in the middle of one something is allocated.
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(trace.requests.size()))) {
    for (const Request& each : trace.requests) {
      if (each.bytes != 0)
        blocks[each.slot] = allocator.allocate(each.bytes);
      else
        allocator.release(blocks[each.slot]);
    }
  }
}

}  // namespace

void add_shapes() {
  static const Trace traces[] = {load_weights(), run_activations(kSeed), serve_from_kv_blocks(kSeed)};
  for (const Trace& trace : traces) {
    for_each_allocator([&](const auto& allocator) {
      add(fmt::format("shapes/{}/{}", allocator.name, trace.name),
          [allocator, &trace](benchmark::State& state) { replay(state, allocator, trace); });
    });
  }
}

}  // namespace bench
