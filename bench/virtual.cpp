// What virtual memory costs: reserving, taking physical memory, mapping, finding and copying.
//
//   reserve/WHO/BYTES     aclrtReserveMemAddress + aclrtReleaseMemAddress, beside mmap + munmap of addresses
//                         that nobody may use
//   physical/belay/BYTES  aclrtMallocPhysical + aclrtFreePhysical
//   map/WHO/BYTES         aclrtMapMem + aclrtUnmapMem of one handle, beside mmap + munmap of a file in memory
//   find/belay/LIVE, copy_small/belay/LIVE
//                         aclrtPointerGetAttributes, and aclrtMemcpy of 64 bytes to the host, at one of the
//                         same ten addresses while LIVE mappings exist
//   mapped_to_device/WHO/BYTES, mapped_to_host/WHO/BYTES
//                         aclrtMemcpy over mappings of 2 MB each (belay), beside one block of aclrtMalloc
//                         (one_block); all memory was written before
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "peers.h"
#include "program.h"
#include "sizes.h"

namespace bench {
namespace {

constexpr std::size_t kPiece = 2 * kMega;
constexpr std::size_t kLarge = 64 * kMega;

aclrtPhysicalMemProp on_the_device() {
  aclrtPhysicalMemProp prop{};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  return prop;
}

aclrtDrvMemHandle take_memory(std::size_t bytes) {
  static const aclrtPhysicalMemProp prop = on_the_device();
  aclrtDrvMemHandle handle = nullptr;
  check(aclrtMallocPhysical(&handle, bytes, &prop, 0), "aclrtMallocPhysical");
  return handle;
}
void give_back(aclrtDrvMemHandle handle) { check(aclrtFreePhysical(handle), "aclrtFreePhysical"); }

unsigned char* reserve(std::size_t bytes) {
  void* start = nullptr;
  check(aclrtReserveMemAddress(&start, bytes, 0, nullptr, 0), "aclrtReserveMemAddress");
  return static_cast<unsigned char*>(start);
}
void release(void* start) { check(aclrtReleaseMemAddress(start), "aclrtReleaseMemAddress"); }

void map(void* start, std::size_t bytes, aclrtDrvMemHandle handle) {
  check(aclrtMapMem(start, bytes, 0, handle, 0), "aclrtMapMem");
}
void unmap(void* start) { check(aclrtUnmapMem(start), "aclrtUnmapMem"); }

void* kernel_map(std::size_t bytes, int protection, int flags, int file) {
  void* const start = mmap(nullptr, bytes, protection, flags, file, 0);
  if (start == MAP_FAILED) fail("mmap");
  return start;
}
void kernel_unmap(void* start, std::size_t bytes) {
  if (munmap(start, bytes) != 0) fail("munmap");
}

// ---- reservations, physical memory, mappings

void reservations(benchmark::State& state, std::size_t bytes) {
  use_device();
  for (auto _ : state) release(reserve(bytes));
}
void kernel_reservations(benchmark::State& state, std::size_t bytes) {
  for (auto _ : state)
    kernel_unmap(kernel_map(bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1), bytes);
}

void handles(benchmark::State& state, std::size_t bytes) {
  use_device();
  for (auto _ : state) give_back(take_memory(bytes));
}

void mappings(benchmark::State& state, std::size_t bytes) {
  use_device();
  unsigned char* const start = reserve(bytes);
  const aclrtDrvMemHandle handle = take_memory(bytes);
  for (auto _ : state) {
    map(start, bytes, handle);
    unmap(start);
  }
  give_back(handle);
  release(start);
}
void kernel_mappings(benchmark::State& state, std::size_t bytes) {
  const int file = memfd_create("bench", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) fail("memfd_create");
  for (auto _ : state) kernel_unmap(kernel_map(bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file), bytes);
  close(file);
}

// ---- ten addresses among many

// Ten mappings far apart that stay, and as many in between as are asked for. There is more of them than a
// device has memory, so each handle is mapped several times.
class Crowd {
 public:
  static constexpr std::size_t kMost = 100000, kHandles = 16384, kStaying = 10, kApart = kMost / kStaying;

  Crowd() : start_{reserve(kMost * kPiece)} {
    for (std::size_t i = 0; i < kHandles; ++i) handles_.push_back(take_memory(kPiece));
    for (std::size_t i = 0; i < kStaying; ++i) {
      addresses[i] = place(i * kApart);
      map_at(i * kApart);
      check(aclrtMemset(addresses[i], 64, 1, 64), "aclrtMemset");
    }
  }
  void set_live(std::size_t live) {
    for (std::size_t i = 0; i < kMost; ++i) {
      if (i % kApart == 0) continue;
      const bool wanted = i % kApart < live / kStaying;
      if (wanted && !mapped_[i]) map_at(i);
      if (!wanted && mapped_[i]) unmap(place(i));
      mapped_[i] = wanted;
    }
  }
  std::array<void*, kStaying> addresses{};

 private:
  unsigned char* place(std::size_t i) const { return start_ + i * kPiece; }
  void map_at(std::size_t i) { map(place(i), kPiece, handles_[i % kHandles]); }

  unsigned char* start_;
  std::vector<aclrtDrvMemHandle> handles_;
  std::vector<bool> mapped_ = std::vector<bool>(kMost);
};

Crowd& crowd_of(std::size_t live) {
  use_device();
  static Crowd crowd;
  crowd.set_live(live);
  return crowd;
}

void find(benchmark::State& state, std::size_t live) {
  const Crowd& crowd = crowd_of(live);
  std::size_t next = 0;
  for (auto _ : state) {
    aclrtPtrAttributes attributes;
    check(aclrtPointerGetAttributes(crowd.addresses[next++ % Crowd::kStaying], &attributes),
          "aclrtPointerGetAttributes");
  }
}
void copy_small(benchmark::State& state, std::size_t live) {
  const Crowd& crowd = crowd_of(live);
  std::size_t next = 0;
  std::array<unsigned char, 64> bytes{};
  for (auto _ : state) {
    check(aclrtMemcpy(bytes.data(), bytes.size(), crowd.addresses[next++ % Crowd::kStaying], bytes.size(),
                      ACL_MEMCPY_DEVICE_TO_HOST),
          "aclrtMemcpy");
  }
}

// ---- large copies

struct Large {
  void *host, *pieces, *block;
  Large()
      : host{std::aligned_alloc(4096, kLarge)},
        pieces{reserve(kLarge)},
        block{DeviceAllocator{}.allocate(kLarge)} {
    if (host == nullptr) fail("aligned_alloc");
    std::memset(host, 1, kLarge);
    for (std::size_t at = 0; at < kLarge; at += kPiece)
      map(static_cast<unsigned char*>(pieces) + at, kPiece, take_memory(kPiece));
    for (void* const each : {pieces, block}) check(aclrtMemset(each, kLarge, 1, kLarge), "aclrtMemset");
  }
};
const Large& large() {
  use_device();
  static const Large all;
  return all;
}

void copy_large(benchmark::State& state, bool to_device, bool in_pieces) {
  const Large& memory = large();
  void* const device = in_pieces ? memory.pieces : memory.block;
  void* const to = to_device ? device : memory.host;
  const void* const from = to_device ? memory.host : device;
  const aclrtMemcpyKind kind = to_device ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  const auto once = [=] { check(aclrtMemcpy(to, kLarge, from, kLarge, kind), "aclrtMemcpy"); };
  once();
  for (auto _ : state) once();
}

void add_all() {
  const auto add_of = [](const char* name, std::size_t point, void (*work)(benchmark::State&, std::size_t)) {
    add(fmt::format("{}/{}", name, point), [=](benchmark::State& state) { work(state, point); });
  };
  for (const std::size_t bytes : {kPiece, kGiga}) {
    add_of("reserve/belay", bytes, reservations);
    add_of("reserve/mmap", bytes, kernel_reservations);
  }
  add_of("physical/belay", kPiece, handles);
  add_of("map/belay", kPiece, mappings);
  add_of("map/mmap", kPiece, kernel_mappings);
  for (const std::size_t live : {std::size_t{10}, std::size_t{1000}, Crowd::kMost}) {
    add_of("find/belay", live, find);
    add_of("copy_small/belay", live, copy_small);
  }
  for (const bool to_device : {true, false}) {
    for (const bool in_pieces : {true, false}) {
      add(fmt::format("mapped_to_{}/{}/{}", to_device ? "device" : "host", in_pieces ? "belay" : "one_block",
                      kLarge),
          [=](benchmark::State& state) { copy_large(state, to_device, in_pieces); });
    }
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::run(argc, argv, bench::add_all); }
