// A loader that keeps the device busy: while one batch is worked on, the next is on its way, and worker
// threads fill host buffers for those after it.
//
// A slot is a pinned buffer, a device buffer, and what says when each may be used again. With two slots this
// is double buffering. Four things must be in order, and each has its wait:
//
//   a worker fills a pinned buffer       when the upload before has read it       (event uploaded, by the
//   host) the upload reads the pinned buffer   when a worker has filled it              (condition variable)
//   the upload writes the device buffer  when the batch before has been used      (event used, by the stream)
//   the batch is used                    when the upload has written it           (event uploaded, by the
//   stream)
//
// There are no kernels here: a copy stands in for them, and a host function compares every byte of its
// result.
//
// Usage: double_buffered_loader [batches [KB of a batch [slots [workers]]]]
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
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

// What reading and decoding a batch would produce. Eight bytes at a time, so that the loader is the example.
uint64_t sample(size_t batch, size_t i) { return (batch + 1) * 0x9e3779b97f4a7c15u + i; }

struct Slot {
  void* pinned = nullptr;
  void* device = nullptr;
  aclrtEvent uploaded = nullptr;
  aclrtEvent used = nullptr;
  size_t filled = 0;     // batches that workers have put into it
  size_t submitted = 0;  // batches whose upload is queued
};

class Loader {
 public:
  Loader(size_t batches, size_t bytes, size_t slots, size_t workers)
      : batches_(batches), bytes_(bytes), slots_(slots) {
    CHECK(aclrtCreateStream(&stream_));
    CHECK(aclrtGetCurrentContext(&context_));
    for (Slot& slot : slots_) {
      CHECK(aclrtMallocHost(&slot.pinned, bytes));
      CHECK(aclrtMallocAlign32(&slot.device, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
      // Events that can be recorded again and again. Waiting for one before its first record is no wait at
      // all.
      CHECK(aclrtCreateEventExWithFlag(&slot.uploaded, ACL_EVENT_SYNC));
      CHECK(aclrtCreateEventExWithFlag(&slot.used, ACL_EVENT_SYNC));
    }
    for (size_t i = 0; i < workers; ++i) workers_.emplace_back([this] { work(); });
  }
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;
  // To be destroyed when all batches were taken.
  ~Loader() {
    for (std::thread& worker : workers_) worker.join();
    CHECK(aclrtSynchronizeDevice());
    for (Slot& slot : slots_) {
      CHECK(aclrtDestroyEvent(slot.used));
      CHECK(aclrtDestroyEvent(slot.uploaded));
      CHECK(aclrtFree(slot.device));
      CHECK(aclrtFreeHost(slot.pinned));
    }
    CHECK(aclrtDestroyStream(stream_));
  }

  // The next batch, in device memory. Work that is queued on this stream from now on finds it there.
  const void* next(aclrtStream compute) {
    Slot& slot = slots_[taken_ % slots_.size()];
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return slot.filled > slot.submitted; });
    }
    CHECK(aclrtStreamWaitEvent(stream_, slot.used));
    CHECK(aclrtMemcpyAsync(slot.device, bytes_, slot.pinned, bytes_, ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    CHECK(aclrtRecordEvent(slot.uploaded, stream_));
    CHECK(aclrtStreamWaitEvent(compute, slot.uploaded));
    {
      const std::lock_guard lock(mutex_);
      ++slot.submitted;
    }
    changed_.notify_all();
    return slot.device;
  }

  // The work that uses the batch is queued.
  void release(aclrtStream compute) {
    CHECK(aclrtRecordEvent(slots_[taken_ % slots_.size()].used, compute));
    ++taken_;
  }

 private:
  void work() {
    CHECK(aclrtSetCurrentContext(context_));  // each thread has its own current context
    for (size_t batch = next_to_fill_++; batch < batches_; batch = next_to_fill_++) {
      Slot& slot = slots_[batch % slots_.size()];
      const size_t round = batch / slots_.size();
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return slot.submitted == round; });
      }
      CHECK(aclrtSynchronizeEvent(slot.uploaded));  // that it is queued does not mean that it was read
      auto* const samples = static_cast<uint64_t*>(slot.pinned);
      for (size_t i = 0; i < bytes_ / sizeof(uint64_t); ++i) samples[i] = sample(batch, i);
      {
        const std::lock_guard lock(mutex_);
        ++slot.filled;
      }
      changed_.notify_all();
    }
  }

  size_t batches_, bytes_;
  std::vector<Slot> slots_;
  aclrtStream stream_ = nullptr;
  aclrtContext context_ = nullptr;
  size_t taken_ = 0;
  std::atomic<size_t> next_to_fill_{0};
  std::mutex mutex_;
  std::condition_variable changed_;  // filled or submitted of a slot
  std::vector<std::thread> workers_;
};

struct Comparison {
  const uint64_t* result;
  size_t samples;
  size_t batch = 0;
  size_t wrong = 0;
};

// A stream calls it when the result is there, and goes on when it returns.
void compare(void* argument) {
  auto& comparison = *static_cast<Comparison*>(argument);
  for (size_t i = 0; i < comparison.samples; ++i)
    if (comparison.result[i] != sample(comparison.batch, i)) ++comparison.wrong;
  ++comparison.batch;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, size_t otherwise) {
    return argc > i ? std::strtoull(argv[i], nullptr, 10) : otherwise;
  };
  const size_t batches = argument(1, 300), bytes = argument(2, 2048) * 1024;
  const size_t slots = std::max<size_t>(argument(3, 2), 1), workers = std::max<size_t>(argument(4, 2), 1);
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  aclrtStream compute = nullptr;
  CHECK(aclrtCreateStream(&compute));
  void* model = nullptr;
  void* result = nullptr;
  CHECK(aclrtMallocAlign32(&model, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  CHECK(aclrtMallocHost(&result, bytes));

  Comparison comparison{static_cast<const uint64_t*>(result), bytes / sizeof(uint64_t)};
  {
    Loader loader(batches, bytes, slots, workers);
    for (size_t batch = 0; batch < batches; ++batch) {
      const void* input = loader.next(compute);
      CHECK(aclrtMemcpyAsync(model, bytes, input, bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, compute));
      loader.release(compute);
      CHECK(aclrtMemcpyAsync(result, bytes, model, bytes, ACL_MEMCPY_DEVICE_TO_HOST, compute));
      CHECK(aclrtLaunchHostFunc(compute, compare, &comparison));
    }
    CHECK(aclrtSynchronizeStream(compute));
  }
  std::printf("%zu batches of %zu KB, %zu slots, %zu workers\n", comparison.batch, bytes / 1024, slots,
              workers);
  std::printf("samples that are not as expected: %zu of %zu\n", comparison.wrong,
              batches * comparison.samples);

  CHECK(aclrtFreeHost(result));
  CHECK(aclrtFree(model));
  CHECK(aclrtDestroyStream(compute));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  std::printf("done\n");
  return comparison.wrong == 0 && comparison.batch == batches ? 0 : 1;
}
