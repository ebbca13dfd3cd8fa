// What the first copy into memory costs that nobody has written to: in pages of 4 KB, beside memcpy into
// fresh memory of the process.
//
// "fresh_copy/WHO/BYTES", "fresh_fill", "fresh_on_device" and "fresh_queued", where WHO is belay or memcpy
// (memset for a fill). Only the first write counts, not what makes the memory or gives it back. A page that
// the machine below has not backed yet costs several times as much, whoever asks for it: all memory of a
// size is written and given back once before.
#include <fmt/format.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "peers.h"
#include "program.h"
#include "sizes.h"

namespace bench {
namespace {

constexpr std::size_t kSizes[] = {kMega, 4 * kMega, 64 * kMega, 512 * kMega};

void* device_block(std::size_t bytes) {
  use_device();
  void* block = nullptr;
  check(aclrtMalloc(&block, bytes, ACL_MEM_MALLOC_NORMAL_ONLY), "aclrtMalloc");
  return block;
}

// Read by all copies of one size.
struct Source {
  explicit Source(std::size_t bytes) : host{std::malloc(bytes)}, device{device_block(bytes)} {
    if (host == nullptr) fail("malloc");
    std::memset(host, 1, bytes);
    check(aclrtMemset(device, bytes, 1, bytes), "aclrtMemset");
  }
  void *host, *device;
};
const Source& source_of(std::size_t bytes) {
  static std::map<std::size_t, Source> all;
  return all.try_emplace(bytes, bytes).first->second;
}

aclrtStream stream() {
  static const aclrtStream made = [] {
    use_device();
    aclrtStream stream = nullptr;
    check(aclrtCreateStream(&stream), "aclrtCreateStream");
    return stream;
  }();
  return made;
}

class OnDevice {
 public:
  explicit OnDevice(std::size_t bytes) : block_{device_block(bytes)} {}
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;
  ~OnDevice() { check(aclrtFree(block_), "aclrtFree"); }
  void* get() const { return block_; }

 private:
  void* block_;
};

class OnHost {
 public:
  explicit OnHost(std::size_t bytes)
      : bytes_{bytes},
        memory_{mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)} {
    if (memory_ == MAP_FAILED) fail("mmap");
  }
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;
  ~OnHost() { munmap(memory_, bytes_); }
  void* get() const { return memory_; }

 private:
  std::size_t bytes_;
  void* memory_;
};

template <class Memory, class Write>
void add_one(const char* name, std::size_t bytes, Write&& write) {
  benchmark::RegisterBenchmark(fmt::format("{}/{}", name, bytes).c_str(), [=](benchmark::State& state) {
    use_device();
    const Source& source = source_of(bytes);
    write(Memory{bytes}.get(), source);
    for (auto _ : state) {
      const Memory fresh{bytes};
      const auto start = std::chrono::steady_clock::now();
      write(fresh.get(), source);
      const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
      state.SetIterationTime(time.count());
    }
  })->UseManualTime();
}

void add_all() {
  for (const std::size_t bytes : kSizes) {
    const auto copy = [=](void* to, const void* from) {
      check(aclrtMemcpy(to, bytes, from, bytes, ACL_MEMCPY_DEFAULT), "aclrtMemcpy");
    };
    add_one<OnDevice>("fresh_copy/belay", bytes, [=](void* to, const Source& s) { copy(to, s.host); });
    add_one<OnDevice>("fresh_on_device/belay", bytes, [=](void* to, const Source& s) { copy(to, s.device); });
    add_one<OnDevice>("fresh_fill/belay", bytes, [=](void* to, const Source&) {
      check(aclrtMemset(to, bytes, 7, bytes), "aclrtMemset");
    });
    add_one<OnDevice>("fresh_queued/belay", bytes, [=](void* to, const Source& s) {
      check(aclrtMemcpyAsync(to, bytes, s.host, bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream()),
            "aclrtMemcpyAsync");
      check(aclrtSynchronizeStream(stream()), "aclrtSynchronizeStream");
    });
    for (const char* question : {"fresh_copy/memcpy", "fresh_on_device/memcpy", "fresh_queued/memcpy"})
      add_one<OnHost>(question, bytes, [=](void* to, const Source& s) { std::memcpy(to, s.host, bytes); });
    add_one<OnHost>("fresh_fill/memcpy", bytes, [=](void* to, const Source&) { std::memset(to, 7, bytes); });
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  setenv("BELAY_KEEP", "0", 1);  // what is freed is fresh again
  return bench::run(argc, argv, bench::add_all);
}
