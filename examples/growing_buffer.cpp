// A buffer that grows without moving: addresses are reserved once, and memory is mapped into them when
// needed.
//
// A buffer of aclrtMalloc that is too small has to be allocated anew, and its contents copied, and for a
// moment both need memory. Here the address stays, nothing is copied, and only what is used is paid for.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
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

size_t free_bytes() {
  size_t free = 0, total = 0;
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  return free;
}

class GrowingBuffer {
 public:
  // `most` bytes of addresses. Addresses are plentiful and cost no memory.
  GrowingBuffer(int device, size_t most) {
    property_.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    property_.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    property_.memAttr = ACL_HBM_MEM_HUGE;
    property_.location = {static_cast<uint32_t>(device), ACL_MEM_LOCATION_TYPE_DEVICE};
    property_.reserve = 0;
    // Everything happens in multiples of this: sizes of memory, and places where it is mapped.
    CHECK(aclrtMemGetAllocationGranularity(&property_, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &step_));
    CHECK(aclrtReserveMemAddress(&start_, most, 0, nullptr, 0));
  }
  GrowingBuffer(const GrowingBuffer&) = delete;
  GrowingBuffer& operator=(const GrowingBuffer&) = delete;
  ~GrowingBuffer() {
    while (!handles_.empty()) drop_last();
    CHECK(aclrtReleaseMemAddress(start_));
  }

  void resize(size_t bytes) {
    while (size() < bytes) add_one();
    while (size() >= bytes + step_) drop_last();
  }
  size_t size() const { return handles_.size() * step_; }
  void* data() const { return start_; }

 private:
  unsigned char* place(size_t i) const { return static_cast<unsigned char*>(start_) + i * step_; }

  void add_one() {
    aclrtDrvMemHandle handle = nullptr;
    CHECK(aclrtMallocPhysical(&handle, step_, &property_, 0));  // memory without an address
    CHECK(aclrtMapMem(place(handles_.size()), step_, 0, handle, 0));
    handles_.push_back(handle);
  }
  // Neither call waits for streams: work that uses this memory must be over.
  void drop_last() {
    CHECK(aclrtUnmapMem(place(handles_.size() - 1)));
    CHECK(aclrtFreePhysical(handles_.back()));
    handles_.pop_back();
  }

  aclrtPhysicalMemProp property_{};
  size_t step_ = 0;
  void* start_ = nullptr;
  std::vector<aclrtDrvMemHandle> handles_;
};

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  const size_t free_at_start = free_bytes();
  {
    GrowingBuffer buffer{0, 1024 * kMB};
    void* const start = buffer.data();
    std::printf("1024 MB of addresses are reserved; memory used: %zu MB\n",
                (free_at_start - free_bytes()) / kMB);

    // The first 5 MB are written once, and must be there as long as the buffer is large enough.
    std::vector<unsigned char> written(5 * kMB);
    for (size_t i = 0; i < written.size(); ++i) written[i] = static_cast<unsigned char>(i * 13 + i / 251);
    buffer.resize(written.size());
    CHECK(aclrtMemcpy(start, buffer.size(), written.data(), written.size(), ACL_MEMCPY_HOST_TO_DEVICE));

    for (const size_t wished : {5 * kMB, 40 * kMB, 300 * kMB, 12 * kMB}) {
      buffer.resize(wished);
      // One fill over all that was mapped in pieces: the pieces make one block.
      if (wished > written.size())
        CHECK(aclrtMemset(static_cast<unsigned char*>(start) + written.size(), buffer.size() - written.size(),
                          0, wished - written.size()));
      std::vector<unsigned char> found(written.size());
      CHECK(aclrtMemcpy(found.data(), found.size(), start, found.size(), ACL_MEMCPY_DEVICE_TO_HOST));
      const bool good = found == written && buffer.data() == start;
      std::printf("%3zu MB wished: %3zu MB used, %s\n", wished / kMB, (free_at_start - free_bytes()) / kMB,
                  good ? "same address, same contents" : "the contents are lost");
      if (!good) return 1;
    }
  }
  const bool all_back = free_bytes() == free_at_start;
  std::printf("at the end %s\n", all_back ? "all memory is given back" : "some memory is missing");
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return all_back ? 0 : 1;
}
