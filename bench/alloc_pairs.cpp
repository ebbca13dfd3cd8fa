#include "alloc_pairs.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <string_view>

#include "peers.h"
#include "program.h"
#include "sizes.h"

namespace bench {
namespace {

constexpr std::size_t kSizes[] = {64,          512,         4 * kKilo, 64 * kKilo, 512 * kKilo,
                                  kMega,       2 * kMega,   8 * kMega, 32 * kMega, 128 * kMega,
                                  256 * kMega, 512 * kMega, kGiga};

template <class Allocator>
void pairs(benchmark::State& state, const Allocator allocator, std::size_t bytes) {
  use_device();
  allocator.release(allocator.allocate(bytes));
  for (auto _ : state) {
    void* block = allocator.allocate(bytes);
    benchmark::DoNotOptimize(block);
    allocator.release(block);
  }
}

void mapped_pairs(benchmark::State& state, std::size_t bytes) {
  for (auto _ : state) {
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) [[unlikely]]
      fail("mmap");
    benchmark::DoNotOptimize(block);
    munmap(block, bytes);
  }
}

// The same block of each kind under every documented policy, alone and with a wish for bandwidth.
constexpr std::pair<const char*, int> kPolicies[] = {
    {"HUGE_FIRST", ACL_MEM_MALLOC_HUGE_FIRST},
    {"HUGE_ONLY", ACL_MEM_MALLOC_HUGE_ONLY},
    {"NORMAL_ONLY", ACL_MEM_MALLOC_NORMAL_ONLY},
    {"HUGE_FIRST_P2P", ACL_MEM_MALLOC_HUGE_FIRST_P2P},
    {"HUGE_ONLY_P2P", ACL_MEM_MALLOC_HUGE_ONLY_P2P},
    {"NORMAL_ONLY_P2P", ACL_MEM_MALLOC_NORMAL_ONLY_P2P},
    {"HUGE_FIRST+HIGH_BAND_WIDTH", ACL_MEM_MALLOC_HUGE_FIRST | ACL_MEM_TYPE_HIGH_BAND_WIDTH},
    {"HUGE_FIRST+LOW_BAND_WIDTH", ACL_MEM_MALLOC_HUGE_FIRST | ACL_MEM_TYPE_LOW_BAND_WIDTH},
    {"HUGE_FIRST+READONLY", ACL_MEM_MALLOC_HUGE_FIRST | ACL_MEM_ACCESS_USER_SPACE_READONLY}};

void pairs_by_policy(benchmark::State& state, int policy, std::size_t bytes) {
  use_device();
  const DeviceAllocator calls;
  for (auto _ : state) {
    void* block = nullptr;
    check(calls.malloc(&block, bytes, static_cast<aclrtMemMallocPolicy>(policy)), "aclrtMalloc");
    benchmark::DoNotOptimize(block);
    calls.release(block);
  }
}

}  // namespace

void add_pairs() {
  for (const auto& [name, policy] : kPolicies) {
    for (const std::size_t bytes : {4000 * std::size_t{1}, 3000 * std::size_t{1000}}) {
      add(fmt::format("policies/{}/{}", name, bytes),
          [policy = policy, bytes](benchmark::State& state) { pairs_by_policy(state, policy, bytes); });
    }
  }
  for (const std::size_t bytes : kSizes) {
    for_each_allocator([&](const auto& allocator) {
      add(fmt::format("pairs/{}/{}", allocator.name, bytes),
          [=](benchmark::State& state) { pairs(state, allocator, bytes); });
    });
    if (bytes < 4 * kKilo) continue;  // less than a page is not to be had
    add(fmt::format("pairs/mmap/{}", bytes), [=](benchmark::State& state) { mapped_pairs(state, bytes); });
  }
}

}  // namespace bench

// The name that callgrind is told; so it is a plain one, and never part of its caller.
extern "C" [[gnu::noinline]] void counted_pairs(void (*work)(const void*), const void* of) { work(of); }

namespace bench {
namespace {

template <class Allocator>
struct Count {
  const Allocator& allocator;
  std::size_t bytes, times;
};

template <class Allocator>
void make(const Allocator& allocator, std::size_t bytes, std::size_t times) {
  const Count<Allocator> count{allocator, bytes, times};
  counted_pairs(
      [](const void* of) {
        const auto& it = *static_cast<const Count<Allocator>*>(of);
        for (std::size_t i = 0; i < it.times; ++i) it.allocator.release(it.allocator.allocate(it.bytes));
      },
      &count);
}

}  // namespace

void count_pairs(const char* which) {
  const std::string_view words = which;
  const auto name = words.substr(0, words.find(':'));
  char* end = nullptr;
  const std::size_t bytes = std::strtoull(which + std::min(name.size() + 1, words.size()), &end, 10);
  const std::size_t times = *end == ':' ? std::strtoull(end + 1, &end, 10) : 0;
  if (bytes == 0 || times == 0 || *end != '\0') fail("reading NAME:BYTES:N");
  bool found = false;
  use_device();
  for_each_allocator([&](const auto& allocator) {
    if (allocator.name != name) return;
    found = true;
    for (std::size_t i = 0; i < times; ++i) allocator.release(allocator.allocate(bytes));  // warm
    make(allocator, bytes, times);
    make(allocator, bytes, 2 * times);
  });
  if (!found) fail("finding that allocator");
}

}  // namespace bench
