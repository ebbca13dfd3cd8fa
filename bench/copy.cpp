// What copies between host and device cost, beside memcpy.
//
// "copy_to_device/WHO/BYTES" and "copy_to_host/WHO/BYTES", where WHO is belay (aclrtMemcpy), memcpy from heap
// to heap, or memcpy_shared: memcpy where the part of the device is played by a shared mapping of a file in
// memory, which is the kind of memory that belay keeps device bytes in. All memory was written before.
// "pinned/belay/BYTES" is a pair of aclrtMallocHost and aclrtFreeHost.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <map>

#include "peers.h"
#include "program.h"
#include "sizes.h"

namespace bench {
namespace {

constexpr std::size_t kSizes[] = {64, 4 * kKilo, 64 * kKilo, kMega, 16 * kMega, 256 * kMega};

void* heap(std::size_t bytes) {
  void* memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);  // as device blocks are
  if (memory == nullptr) fail("aligned_alloc");
  std::memset(memory, 1, bytes);
  return memory;
}

void* shared(std::size_t bytes) {
  const int file = memfd_create("bench", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) fail("memfd_create");
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) fail("mmap");
  std::memset(memory, 1, bytes);
  return memory;
}

void* device(std::size_t bytes) {
  use_device();
  void* memory = DeviceAllocator{}.allocate(bytes);
  check(aclrtMemset(memory, bytes, 1, bytes), "aclrtMemset");
  return memory;
}

// The memory of all questions of one size. Made when the first is asked, and kept for all repeats.
struct Memory {
  explicit Memory(std::size_t size)
      : bytes{size},
        host{heap(size)},
        other_host{heap(size)},
        in_file{shared(size)},
        on_device{device(size)} {}
  std::size_t bytes;
  void *host, *other_host, *in_file, *on_device;
};

using Copy = void (*)(const Memory&);
struct Question {
  const char* name;
  Copy copy;
};
// memcpy is called through a pointer that the compiler cannot see through: it would know a size of 64.
void* (*volatile const plain_memcpy)(void*, const void*, std::size_t) = std::memcpy;
const Question kQuestions[] = {
    {"copy_to_device/belay",
     [](const Memory& m) {
       check(aclrtMemcpy(m.on_device, m.bytes, m.host, m.bytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");
     }},
    {"copy_to_device/memcpy", [](const Memory& m) { plain_memcpy(m.other_host, m.host, m.bytes); }},
    {"copy_to_device/memcpy_shared", [](const Memory& m) { plain_memcpy(m.in_file, m.host, m.bytes); }},
    {"copy_to_host/belay",
     [](const Memory& m) {
       check(aclrtMemcpy(m.other_host, m.bytes, m.on_device, m.bytes, ACL_MEMCPY_DEVICE_TO_HOST),
             "aclrtMemcpy");
     }},
    {"copy_to_host/memcpy", [](const Memory& m) { plain_memcpy(m.other_host, m.host, m.bytes); }},
    {"copy_to_host/memcpy_shared", [](const Memory& m) { plain_memcpy(m.other_host, m.in_file, m.bytes); }},
};

const Memory& memory_of(std::size_t bytes) {
  static std::map<std::size_t, Memory> all;
  return all.try_emplace(bytes, bytes).first->second;
}

void add_all() {
  for (const std::size_t bytes : kSizes) {
    for (const Question& question : kQuestions) {
      add(fmt::format("{}/{}", question.name, bytes), [=, copy = question.copy](benchmark::State& state) {
        use_device();
        const Memory& memory = memory_of(bytes);
        copy(memory);
        for (auto _ : state) copy(memory);
      });
    }
  }
  for (const std::size_t bytes : {4 * kKilo, kMega, 16 * kMega}) {
    add(fmt::format("pinned/belay/{}", bytes), [=](benchmark::State& state) {
      use_device();
      for (auto _ : state) {
        void* block = nullptr;
        check(aclrtMallocHost(&block, bytes), "aclrtMallocHost");
        check(aclrtFreeHost(block), "aclrtFreeHost");
      }
    });
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv, bench::add_all); }
