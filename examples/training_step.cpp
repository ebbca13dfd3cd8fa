// A training step that does not fit, and one that does: a program to look at with `belay report`.
//
//   belay run --hbm 480M --stacks 8 --trace step.trace -- ./training_step
//   belay report step.trace
//
// Weights, the state of the optimiser, buckets for gradients and what a forward pass keeps for the backward
// pass: each is made by a function of its own, so that a report can tell them apart. There are no kernels;
// copies stand in for them. The mistake: buckets of exactly 2 MB from aclrtMalloc cost 4 MB each, because it
// adds 32 bytes (M-34).
//
// Usage: training_step [--fixed]
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "acl/acl.h"

namespace {

constexpr size_t kMiB = 1048576;
constexpr size_t kLayers = 12, kBuckets = 4, kSteps = 3;

class Buffer {
 public:
  using Allocate = aclError (*)(void**, size_t, aclrtMemMallocPolicy);
  Buffer(size_t bytes, Allocate allocate) : bytes_(bytes) {
    if (allocate(&memory_, bytes, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) throw std::bad_alloc();
  }
  Buffer(Buffer&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() {
    if (memory_ != nullptr) aclrtFree(memory_);
  }
  void* get() const { return memory_; }
  size_t bytes() const { return bytes_; }

 private:
  void* memory_ = nullptr;
  size_t bytes_;
};
using Buffers = std::vector<Buffer>;

struct Streams {
  aclrtStream load = nullptr, compute = nullptr;
  Streams() {
    aclrtCreateStream(&load);
    aclrtCreateStream(&compute);
  }
  ~Streams() {
    aclrtDestroyStream(load);
    aclrtDestroyStream(compute);
  }
};

// Before blocks are freed, also by an exception, all work that uses them is done.
struct Finish {
  Finish() = default;
  Finish(const Finish&) = delete;
  Finish& operator=(const Finish&) = delete;
  ~Finish() { aclrtSynchronizeDevice(); }
};

void load_weights(Buffers& weights, const void* file) {
  for (size_t layer = 0; layer < kLayers; ++layer) {
    weights.emplace_back(6 * kMiB, aclrtMallocAlign32);
    aclrtMemcpy(weights.back().get(), 2 * kMiB, file, 2 * kMiB, ACL_MEMCPY_HOST_TO_DEVICE);
  }
}

void make_optimizer(Buffers& state) {
  for (size_t layer = 0; layer < kLayers; ++layer) {
    state.emplace_back(12 * kMiB, aclrtMallocAlign32);
    aclrtMemset(state.back().get(), state.back().bytes(), 0, state.back().bytes());
  }
}

void make_gradient_buckets(Buffers& buckets, bool fixed) {
  for (size_t bucket = 0; bucket < kLayers * kBuckets; ++bucket)
    buckets.emplace_back(2 * kMiB, fixed ? aclrtMallocAlign32 : aclrtMalloc);
}

void attention(Buffers& kept, const Buffer& weight, const Streams& streams) {
  kept.emplace_back(3 * kMiB, aclrtMalloc);
  aclrtMemcpyAsync(kept.back().get(), 2 * kMiB, weight.get(), 2 * kMiB, ACL_MEMCPY_DEVICE_TO_DEVICE,
                   streams.compute);
}

void mlp(Buffers& kept, const Streams& streams) {
  const Buffer scratch(300000, aclrtMalloc);  // freed at once: a temporary block
  kept.emplace_back(5 * kMiB, aclrtMalloc);
  aclrtMemsetAsync(kept.back().get(), 5 * kMiB, 0, 5 * kMiB, streams.compute);
}

void train(bool fixed, void* batch) {
  const Streams streams;
  Buffers weights, state, buckets;
  load_weights(weights, batch);
  make_optimizer(state);
  make_gradient_buckets(buckets, fixed);
  for (size_t step = 0; step < kSteps; ++step) {
    Buffers kept;  // for the backward pass
    const Finish finish;
    for (const Buffer& weight : weights) {
      aclrtMemcpyAsync(state[0].get(), 2 * kMiB, batch, 2 * kMiB, ACL_MEMCPY_HOST_TO_DEVICE, streams.load);
      attention(kept, weight, streams);
      mlp(kept, streams);
    }
    aclrtSynchronizeStream(streams.compute);
    aclrtSynchronizeStream(streams.load);
    for (size_t layer = 0; !kept.empty(); ++layer) {
      aclrtMemsetAsync(buckets[layer % buckets.size()].get(), 2 * kMiB, 1, 2 * kMiB, streams.compute);
      aclrtSynchronizeStream(streams.compute);
      kept.pop_back();
    }
    aclrtMemcpy(batch, 2 * kMiB, buckets[0].get(), 2 * kMiB, ACL_MEMCPY_DEVICE_TO_HOST);
    std::printf("step %zu done\n", step);
  }
}

}  // namespace

int main(int count, char** words) {
  const bool fixed = count > 1 && std::strcmp(words[1], "--fixed") == 0;
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 2;
  int code = 0;
  void* batch = nullptr;
  if (aclrtMallocHost(&batch, 2 * kMiB) != ACL_SUCCESS) return 2;
  std::memset(batch, 0, 2 * kMiB);
  try {
    train(fixed, batch);
  } catch (const std::bad_alloc&) {
    std::printf("out of memory\n");
    code = 1;
  }
  aclrtFreeHost(batch);
  aclrtResetDevice(0);
  aclFinalize();
  return code;
}
