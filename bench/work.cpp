#include "work.h"

#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "model_shapes.h"
#include "peers.h"
#include "program.h"

namespace bench {

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

}  // namespace bench
