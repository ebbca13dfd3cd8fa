// What it costs to keep call sites and to look for mistakes.
//
// "check/WHO/WHAT": the time of one piece of work. WHO: off, stacks1 (BELAY_STACKS=1 alone), run (what `belay
// run` sets), cheap and all (BELAY_CHECK). WHAT: pair (allocate and free 4 KB), kv (a request of the KV-cache
// trace), copy (64 KB to the device), queued (4 KB to the device through a stream). "stacks8" and "slow" are
// for the price of one stack: both go the slow way, with and without two stacks a pair.
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "belay/belay.h"
#include "model_shapes.h"
#include "peers.h"
#include "program.h"

namespace bench {
namespace {

struct Way {
  const char *name, *stacks, *check, *summary;
  const char* quarantine = "";  // empty: as it comes
};
constexpr std::array kWays{
    Way{"off", "off", "off", "off"},       Way{"stacks1", "1", "off", "off"},
    Way{"run", "1", "off", "on"},          Way{"cheap", "1", "cheap", "off"},
    Way{"all", "8", "all", "off"},         Way{"stacks8", "8", "off", "off"},
    Way{"slow", "off", "off", "off", "1"},
};

// From here on the runtime works that way.
void work_as(const Way& way) {
  ::setenv("BELAY_STACKS", way.stacks, 1);
  ::setenv("BELAY_CHECK", way.check, 1);
  ::setenv("BELAY_SUMMARY", way.summary, 1);
  ::setenv("BELAY_QUARANTINE", way.quarantine, 1);
  if (belay_restart() != 0) fail("belay_restart");
  if (aclrtSetDevice(0) != 0) fail("aclrtSetDevice");
}

template <class Work>
void add_work(const Way& way, const char* what, Work&& work) {
  add(fmt::format("check/{}/{}", way.name, what), [way, work](benchmark::State& state) {
    work_as(way);
    work(state);
    if (aclrtResetDevice(0) != 0) fail("aclrtResetDevice");
    work_as(kWays[0]);
  });
}

void make_pairs(benchmark::State& state) {
  for (auto _ : state) {
    void* block = nullptr;
    if (aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != 0) fail("aclrtMalloc");
    benchmark::DoNotOptimize(block);
    aclrtFree(block);
  }
}

void serve(benchmark::State& state) {
  static const Trace trace = serve_from_kv_blocks(42);
  std::vector<void*> blocks(trace.slots);
  const auto serve_all = [&] {
    for (const Request& each : trace.requests) {
      if (each.bytes != 0)
        aclrtMalloc(&blocks[each.slot], each.bytes, ACL_MEM_MALLOC_HUGE_FIRST);
      else
        aclrtFree(blocks[each.slot]);
    }
  };
  // A server runs for days. What its first requests cost, while its addresses spread and their tables are
  // made, is no measure of it.
  for (int i = 0; i < 20; ++i) serve_all();
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(trace.requests.size()))) serve_all();
}

void copy(benchmark::State& state) {
  constexpr std::size_t kBytes = 65536;
  const std::vector<char> host(kBytes, 1);
  void* block = nullptr;
  if (aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0) fail("aclrtMalloc");
  for (auto _ : state) {
    if (aclrtMemcpy(block, kBytes, host.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE) != 0) fail("aclrtMemcpy");
  }
  aclrtFree(block);
}

void queue(benchmark::State& state) {
  constexpr std::size_t kBytes = 4096;
  constexpr int kAtOnce = 256;
  void *block = nullptr, *host = nullptr;
  aclrtStream stream = nullptr;
  if (aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST) != 0 || aclrtMallocHost(&host, kBytes) != 0 ||
      aclrtCreateStream(&stream) != 0)
    fail("what queued copies need");
  std::memset(host, 1, kBytes);
  while (state.KeepRunningBatch(kAtOnce)) {
    for (int i = 0; i < kAtOnce; ++i)
      aclrtMemcpyAsync(block, kBytes, host, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream);
    if (aclrtSynchronizeStream(stream) != 0) fail("aclrtSynchronizeStream");
  }
  aclrtDestroyStream(stream);
  aclrtFreeHost(host);
  aclrtFree(block);
}

void add_all() {
  for (const Way& way : kWays) {
    add_work(way, "pair", make_pairs);
    add_work(way, "kv", serve);
    add_work(way, "copy", copy);
    add_work(way, "queued", queue);
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv, bench::add_all); }
