// A caching allocator with expandable segments: freed blocks are kept for the next request, and the memory
// behind them can always be joined.
//
// A caching allocator asks the runtime for large pieces and cuts them up. A piece of aclrtMalloc can only be
// given back as a whole, and does not move: when half of each is in use, the free halves serve no larger
// request, and the memory is fragmented. Here all blocks lie in one long range of addresses, which consists
// of small pieces of memory. Those of free blocks are taken away and mapped wherever they are needed.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
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

constexpr size_t kMB = 1024 * 1024;
constexpr size_t kSegment = 2 * kMB;  // the unit of memory; one handle each

class SegmentAllocator {
 public:
  explicit SegmentAllocator(uint32_t device) {
    property_.memAttr = ACL_HBM_MEM_HUGE;
    property_.location = {device, ACL_MEM_LOCATION_TYPE_DEVICE};  // all other fields are 0
    size_t free = 0, total = 0;
    CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    // Twice as many addresses as the device has memory: there is always room for one large block more.
    const size_t room = 2 * total / kSegment * kSegment;
    CHECK(aclrtReserveMemAddress(&start_, room, 0, nullptr, 0));
    handles_.resize(room / kSegment);
    free_[0] = room;
  }
  SegmentAllocator(const SegmentAllocator&) = delete;
  SegmentAllocator& operator=(const SegmentAllocator&) = delete;
  ~SegmentAllocator() {
    CHECK(aclrtSynchronizeDevice());
    for (size_t i = 0; i < handles_.size(); ++i) take_memory(i);
    CHECK(aclrtReleaseMemAddress(start_));
  }

  // The first free range that is large enough, or nullptr if the device has no memory left.
  void* allocate(size_t bytes) {
    const size_t size = (bytes + kAlign - 1) / kAlign * kAlign;
    for (const auto& [offset, room] : free_) {
      if (room < size) continue;
      if (!give_memory(offset, size)) return nullptr;
      const size_t at = offset, rest = room - size;
      free_.erase(at);
      if (rest != 0) free_[at + size] = rest;
      used_[at] = size;
      return static_cast<unsigned char*>(start_) + at;
    }
    return nullptr;
  }

  // The memory stays mapped for the next request; free neighbours become one range.
  void free(void* block) {
    const auto found = used_.find(
        static_cast<size_t>(static_cast<unsigned char*>(block) - static_cast<unsigned char*>(start_)));
    if (found == used_.end()) std::abort();
    auto range = free_.emplace(found->first, found->second).first;
    used_.erase(found);
    const auto next = std::next(range);
    if (next != free_.end() && range->first + range->second == next->first) {
      range->second += next->second;
      free_.erase(next);
    }
    if (range == free_.begin()) return;
    const auto previous = std::prev(range);
    if (previous->first + previous->second != range->first) return;
    previous->second += range->second;
    free_.erase(range);
  }

 private:
  static constexpr size_t kAlign = 512;

  unsigned char* place(size_t i) const { return static_cast<unsigned char*>(start_) + i * kSegment; }

  // Maps what is missing in a range. Memory comes from the device, and when that has none, from free ranges.
  bool give_memory(size_t offset, size_t size) {
    const size_t first = offset / kSegment, last = (offset + size - 1) / kSegment;
    for (size_t i = first; i <= last; ++i) {
      if (handles_[i] != nullptr) continue;
      aclError code = aclrtMallocPhysical(&handles_[i], kSegment, &property_, 0);
      if (code == ACL_ERROR_RT_MEMORY_ALLOCATION) {
        CHECK(aclrtSynchronizeDevice());  // unmapping waits for no stream
        if (take_idle_memory(first, last) == 0) return false;
        code = aclrtMallocPhysical(&handles_[i], kSegment, &property_, 0);
      }
      check(code, "aclrtMallocPhysical");
      CHECK(aclrtMapMem(place(i), kSegment, 0, handles_[i], 0));
    }
    return true;
  }

  // Takes the memory of all segments that are free as a whole and lie outside [first, last].
  size_t take_idle_memory(size_t first, size_t last) {
    size_t taken = 0;
    for (const auto& [offset, room] : free_) {
      for (size_t i = (offset + kSegment - 1) / kSegment; (i + 1) * kSegment <= offset + room; ++i) {
        if (i >= first && i <= last) continue;
        taken += take_memory(i);
      }
    }
    return taken;
  }
  size_t take_memory(size_t i) {
    if (handles_[i] == nullptr) return 0;
    CHECK(aclrtUnmapMem(place(i)));
    CHECK(aclrtFreePhysical(handles_[i]));
    handles_[i] = nullptr;
    return kSegment;
  }

  aclrtPhysicalMemProp property_{};
  void* start_ = nullptr;
  std::vector<aclrtDrvMemHandle> handles_;  // one for each segment, nullptr: a hole
  std::map<size_t, size_t> free_, used_;    // offset and size of ranges
};

size_t free_bytes() {
  size_t free = 0, total = 0;
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return free;
}

// Whether the first MB of a block holds this number; all blocks get different ones.
bool holds(const void* block, size_t number) {
  std::vector<unsigned char> bytes(kMB);
  CHECK(aclrtMemcpy(bytes.data(), bytes.size(), block, bytes.size(), ACL_MEMCPY_DEVICE_TO_HOST));
  return bytes == std::vector<unsigned char>(kMB, static_cast<unsigned char>(number));
}

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  const size_t free_at_start = free_bytes();
  bool good = true;
  {
    SegmentAllocator segments{0};
    const size_t size = free_at_start / 16 / kSegment * kSegment;
    std::vector<void*> blocks;
    while (void* const block = segments.allocate(size)) {
      CHECK(aclrtMemset(block, size, static_cast<int32_t>(blocks.size()), kMB));
      blocks.push_back(block);
    }
    std::printf("%zu blocks of %zu MB fill the device: %zu MB are left\n", blocks.size(), size / kMB,
                free_bytes() / kMB);

    for (size_t i = 0; i < blocks.size(); i += 2) segments.free(blocks[i]);
    const size_t large_size = (blocks.size() + 1) / 2 * size;
    std::printf("every second is freed: %zu MB in pieces of %zu MB\n", large_size / kMB, size / kMB);

    void* const large = segments.allocate(large_size);
    good = large != nullptr;
    std::printf("a block of %zu MB: %s\n", large_size / kMB, good ? "it fits" : "it does not fit");
    if (large != nullptr) {
      // It is one block, although its memory came from many: this fill crosses the border of two pieces.
      CHECK(aclrtMemset(static_cast<unsigned char*>(large) + size - kMB, 2 * kMB, 0xFF, 2 * kMB));
      segments.free(large);
    }
    for (size_t i = 1; i < blocks.size(); i += 2) good = good && holds(blocks[i], i);
    std::printf("the blocks in between %s\n",
                good ? "kept their addresses and contents" : "are not what they were");
    for (size_t i = 1; i < blocks.size(); i += 2) segments.free(blocks[i]);
  }
  good = good && free_bytes() == free_at_start;
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return good ? 0 : 1;
}
