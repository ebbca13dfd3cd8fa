// A caching allocator as frameworks have one, under a small training loop.
//
// Asking the runtime for memory is slow, so a framework asks for large segments, cuts blocks out of them, and
// keeps the blocks that are freed. Each block belongs to a stream. Work of the same stream may use it again
// at once, because it runs after what was queued before; but if another stream used the block too, it is free
// only when an event says that this stream is done with it.
//
// There are no kernels here: copies and fills stand in for them, and leave bytes that can be foretold.
//
// Usage: caching_allocator [steps [layers [KB of the largest activation]]]
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "acl/acl.h"

namespace {

void check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d\n%s", call, code, message != nullptr ? message : "");
  std::exit(1);
}
#define CHECK(call) check(call, #call)

using Address = unsigned char*;
constexpr size_t kKB = 1024, kMB = 1024 * kKB;
size_t round_up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }

class CachingAllocator {
 public:
  CachingAllocator() = default;
  CachingAllocator(const CachingAllocator&) = delete;
  CachingAllocator& operator=(const CachingAllocator&) = delete;
  ~CachingAllocator() {
    empty_cache();
    for (aclrtEvent event : spare_events_) CHECK(aclrtDestroyEvent(event));
  }

  // Memory for work on this stream: the smallest free block that fits, cut if it is much too large.
  Address allocate(size_t bytes, aclrtStream stream) {
    collect();
    const size_t size = round_up(bytes, 512);
    const bool small = size <= kMB;  // in segments of their own, so that they do not break up the large ones
    FreeList& list = free_[{stream, small}];
    auto found = list.lower_bound({size, nullptr});
    if (found == list.end()) found = add_segment(size, small, list);
    const Address address = found->second;
    list.erase(found);
    Block& block = blocks_.at(address);
    if (block.size - size >= (small ? 512 : kMB)) {
      Block rest = block;
      rest.size = block.size - size;
      list.insert({rest.size, address + size});
      blocks_.emplace(address + size, rest);
      block.size = size;
      ++splits;
    }
    block.in_use = true;
    ++requests;
    in_use += block.size;
    peak_in_use = std::max(peak_in_use, in_use);
    return address;
  }

  // Work of another stream uses the block as well. To be said before the block is freed.
  void used_on(Address address, aclrtStream stream) { blocks_.at(address).other_streams.insert(stream); }

  void free(Address address) {
    Block& block = blocks_.at(address);
    in_use -= block.size;
    for (aclrtStream stream : block.other_streams) {
      leaving_.emplace_back(take_event(), address);
      CHECK(aclrtRecordEvent(leaving_.back().first, stream));
    }
    block.events = block.other_streams.size();
    block.other_streams.clear();
    if (block.events == 0) make_free(address);
  }

  // Gives back every segment that is free as a whole.
  void empty_cache() {
    CHECK(aclrtSynchronizeDevice());  // aclrtFree waits for no stream
    collect();
    for (auto at = blocks_.begin(); at != blocks_.end();) {
      const auto [address, block] = *at;
      const bool whole = !block.in_use && block.size == block.segment_size;
      at = whole ? blocks_.erase(at) : std::next(at);
      if (!whole) continue;
      block.list->erase({block.size, address});
      reserved -= block.size;
      CHECK(aclrtFree(address));
    }
  }

  size_t requests = 0, segments = 0, splits = 0, merges = 0, times_short = 0;
  size_t in_use = 0, peak_in_use = 0, reserved = 0, peak_reserved = 0;

 private:
  using FreeList = std::set<std::pair<size_t, Address>>;  // by size
  struct Block {
    size_t size;
    Address segment;  // the segment that it is cut from
    size_t segment_size;
    FreeList* list;  // where it is kept when it is free
    bool in_use = false;
    std::set<aclrtStream> other_streams;
    size_t events = 0;  // that must complete before it is free
  };
  using Place = std::map<Address, Block>::iterator;

  FreeList::iterator add_segment(size_t size, bool small, FreeList& list) {
    const size_t bytes = small ? 2 * kMB : size < 10 * kMB ? 20 * kMB : round_up(size, 2 * kMB);
    void* address = nullptr;
    // Not aclrtMalloc: it adds 32 bytes, and 2 MB would take two huge pages.
    aclError code = aclrtMallocAlign32(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    if (code == ACL_ERROR_RT_MEMORY_ALLOCATION) {  // perhaps the cache has it, in pieces of other sizes
      ++times_short;
      empty_cache();
      code = aclrtMallocAlign32(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST);
    }
    check(code, "aclrtMallocAlign32");
    const auto begin = static_cast<Address>(address);
    blocks_.emplace(begin, Block{bytes, begin, bytes, &list, false, {}, 0});
    ++segments;
    reserved += bytes;
    peak_reserved = std::max(peak_reserved, reserved);
    return list.insert({bytes, begin}).first;
  }

  void make_free(Address address) {
    Place block = blocks_.find(address);
    block->second.in_use = false;
    if (joins(block, std::next(block))) join(block, std::next(block));
    if (block != blocks_.begin() && joins(std::prev(block), block)) {
      block = std::prev(block);
      join(block, std::next(block));
    }
    block->second.list->insert({block->second.size, block->first});
  }
  bool joins(Place left, Place right) {
    return right != blocks_.end() && left->second.segment == right->second.segment && !left->second.in_use &&
           !right->second.in_use;
  }
  void join(Place left, Place right) {
    for (Place each : {left, right}) each->second.list->erase({each->second.size, each->first});
    left->second.size += right->second.size;
    blocks_.erase(right);
    ++merges;
  }

  // Blocks whose other streams are done with them become free.
  void collect() {
    const auto done = [this](const std::pair<aclrtEvent, Address>& each) {
      aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
      CHECK(aclrtQueryEventStatus(each.first, &status));
      if (status == ACL_EVENT_RECORDED_STATUS_NOT_READY) return false;
      spare_events_.push_back(each.first);
      if (--blocks_.at(each.second).events == 0) make_free(each.second);
      return true;
    };
    leaving_.erase(std::remove_if(leaving_.begin(), leaving_.end(), done), leaving_.end());
  }
  aclrtEvent take_event() {
    aclrtEvent event = nullptr;
    if (spare_events_.empty()) {
      CHECK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
    } else {
      event = spare_events_.back();
      spare_events_.pop_back();
    }
    return event;
  }

  std::map<Address, Block> blocks_;  // all of them, so that neighbours are found
  std::map<std::pair<aclrtStream, bool>, FreeList> free_;
  std::vector<std::pair<aclrtEvent, Address>> leaving_;
  std::vector<aclrtEvent> spare_events_;
};

using Tensor = std::shared_ptr<unsigned char>;
constexpr size_t kWeights = 300 * kKB;  // of a layer
constexpr size_t kRow = 64;             // what a layer's weights change in an activation

// One step computes on one stream; batches arrive on another, and gradients are reduced on a third.
class Training {
 public:
  Training(size_t layers, size_t largest) : layers_(layers), largest_(largest) {
    for (aclrtStream* stream : {&compute_, &arrival_, &reduction_}) CHECK(aclrtCreateStream(stream));
    for (aclrtEvent* event : {&arrived_, &computed_, &reduced_})
      CHECK(aclrtCreateEventExWithFlag(event, ACL_EVENT_SYNC));
    for (void** buffer : {&batch_, &result_}) CHECK(aclrtMallocHost(buffer, largest));
    for (size_t layer = 0; layer < layers; ++layer) {
      weights_.push_back(tensor(kWeights, compute_));
      moments_.push_back(tensor(kWeights, compute_));
      CHECK(aclrtMemsetAsync(weights_.back().get(), kWeights, 0, kWeights, compute_));
    }
  }
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  ~Training() {
    for (void* buffer : {batch_, result_}) CHECK(aclrtFreeHost(buffer));
    for (aclrtEvent event : {arrived_, computed_, reduced_}) CHECK(aclrtDestroyEvent(event));
    for (aclrtStream stream : {compute_, arrival_, reduction_}) CHECK(aclrtDestroyStream(stream));
  }

  bool step(size_t number) {
    const size_t bytes = largest_ * (4 + number * 7 % 13) / 16;  // batches differ in length
    auto* const batch = static_cast<unsigned char*>(batch_);
    for (size_t i = 0; i < bytes; ++i) batch[i] = static_cast<unsigned char>(number + i / kRow);
    std::vector<Tensor> activations{tensor(bytes, arrival_)};
    CHECK(aclrtMemcpyAsync(activations[0].get(), bytes, batch, bytes, ACL_MEMCPY_HOST_TO_DEVICE, arrival_));
    order(arrival_, arrived_, compute_);
    cache_.used_on(activations[0].get(), compute_);

    for (size_t layer = 0; layer < layers_; ++layer) {  // forward
      activations.push_back(tensor(bytes, compute_));
      copy(activations[layer + 1].get(), activations[layer].get(), bytes, compute_);
      copy(activations[layer + 1].get() + layer * kRow, weights_[layer].get(), kRow, compute_);
    }
    CHECK(aclrtMemcpyAsync(result_, bytes, activations.back().get(), bytes, ACL_MEMCPY_DEVICE_TO_HOST,
                           compute_));

    std::vector<Tensor> gradients, buckets;
    Tensor gradient = activations.back();
    for (size_t layer = layers_; layer-- > 0; activations.pop_back()) {  // backward
      gradients.push_back(tensor(kWeights, compute_));
      const int value = static_cast<unsigned char>(number + layer);
      CHECK(aclrtMemsetAsync(gradients.back().get(), kWeights, value, kWeights, compute_));
      order(compute_, computed_, reduction_);
      buckets.push_back(tensor(kWeights, reduction_));
      copy(buckets.back().get(), gradients.back().get(), kWeights, reduction_);  // an all-reduce
      cache_.used_on(gradients.back().get(), reduction_);
      const Tensor below = tensor(bytes, compute_);
      copy(below.get(), gradient.get(), bytes, compute_);
      gradient = below;
    }

    order(reduction_, reduced_, compute_);
    for (size_t layer = 0; layer < layers_; ++layer) {  // optimizer
      const Tensor& bucket = buckets[layers_ - 1 - layer];
      copy(moments_[layer].get(), bucket.get(), kWeights, compute_);
      copy(weights_[layer].get(), moments_[layer].get(), kWeights, compute_);
      cache_.used_on(bucket.get(), compute_);
    }
    for (std::vector<Tensor>* each : {&activations, &gradients, &buckets}) each->clear();
    CHECK(aclrtSynchronizeDevice());
    return right(number, bytes);
  }

  const CachingAllocator& cache() const { return cache_; }

 private:
  Tensor tensor(size_t bytes, aclrtStream stream) {
    return {cache_.allocate(bytes, stream), [this](Address address) { cache_.free(address); }};
  }
  static void copy(Address to, const unsigned char* from, size_t bytes, aclrtStream stream) {
    CHECK(aclrtMemcpyAsync(to, bytes, from, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  }
  // What is queued later on the second stream runs after what is queued by now on the first.
  static void order(aclrtStream first, aclrtEvent event, aclrtStream second) {
    CHECK(aclrtRecordEvent(event, first));
    CHECK(aclrtStreamWaitEvent(second, event));
  }

  // The last activation is the batch, with the weights of the step before in one row for each layer.
  bool right(size_t number, size_t bytes) const {
    const auto* const batch = static_cast<const unsigned char*>(batch_);
    const auto* const result = static_cast<const unsigned char*>(result_);
    for (size_t i = 0; i < bytes; ++i) {
      const size_t row = i / kRow;
      const size_t weight = number == 0 ? 0 : number - 1 + row;
      if (result[i] != (row < layers_ ? static_cast<unsigned char>(weight) : batch[i])) return false;
    }
    return true;
  }

  size_t layers_, largest_;
  aclrtStream compute_ = nullptr, arrival_ = nullptr, reduction_ = nullptr;
  aclrtEvent arrived_ = nullptr, computed_ = nullptr, reduced_ = nullptr;
  void *batch_ = nullptr, *result_ = nullptr;  // pinned
  CachingAllocator cache_;
  std::vector<Tensor> weights_, moments_;  // after the cache, which they are given back to
};

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, size_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const size_t steps = argument(1, 300), layers = argument(2, 6), largest = argument(3, 1280) * kKB;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  bool good = true;
  {
    Training training(layers, largest);
    for (size_t step = 0; step < steps && good; ++step) good = training.step(step);
    std::printf("%zu steps of %zu layers: %s\n", steps, layers, good ? "every result as expected" : "WRONG");
    const CachingAllocator& cache = training.cache();
    std::printf("requests %zu, segments %zu, splits %zu, merges %zu, short of memory %zu times\n",
                cache.requests, cache.segments, cache.splits, cache.merges, cache.times_short);
    std::printf("most in use %.1f MB, most reserved %.1f MB\n", static_cast<double>(cache.peak_in_use) / kMB,
                static_cast<double>(cache.peak_reserved) / kMB);
  }
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  std::printf("done\n");
  return good ? 0 : 1;
}
