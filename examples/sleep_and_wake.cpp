// A model sleeps while another needs the device, and wakes at the same addresses.
//
// An inference server keeps several models and serves one at a time. A model that sleeps has its weights in
// host memory and holds no device memory, but it keeps its addresses: when it wakes, every pointer that was
// handed out (in tensors, in recorded work) is valid again, and nothing has to be rebuilt.
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

class SleepingBlock {
 public:
  SleepingBlock(uint32_t device, size_t bytes) {
    property_.memAttr = ACL_HBM_MEM_HUGE;
    property_.location = {device, ACL_MEM_LOCATION_TYPE_DEVICE};  // all other fields are 0
    size_t step = 0;
    CHECK(aclrtMemGetAllocationGranularity(&property_, ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM, &step));
    size_ = (bytes + step - 1) / step * step;
    CHECK(aclrtReserveMemAddress(&address_, size_, 0, nullptr, 0));
    get_memory();
  }
  SleepingBlock(const SleepingBlock&) = delete;
  SleepingBlock& operator=(const SleepingBlock&) = delete;
  ~SleepingBlock() {
    if (handle_ != nullptr) give_memory_back();
    CHECK(aclrtReleaseMemAddress(address_));
  }

  // Work that uses the block must be over: unmapping waits for no stream.
  void sleep() {
    kept_.resize(size_);
    CHECK(aclrtMemcpy(kept_.data(), kept_.size(), address_, size_, ACL_MEMCPY_DEVICE_TO_HOST));
    give_memory_back();
  }
  void wake() {
    get_memory();
    CHECK(aclrtMemcpy(address_, size_, kept_.data(), kept_.size(), ACL_MEMCPY_HOST_TO_DEVICE));
    kept_ = {};
  }
  void* data() const { return address_; }
  size_t size() const { return size_; }

 private:
  void get_memory() {
    CHECK(aclrtMallocPhysical(&handle_, size_, &property_, 0));
    CHECK(aclrtMapMem(address_, size_, 0, handle_, 0));
  }
  void give_memory_back() {
    CHECK(aclrtUnmapMem(address_));
    CHECK(aclrtFreePhysical(handle_));
    handle_ = nullptr;
  }

  aclrtPhysicalMemProp property_{};
  size_t size_ = 0;
  void* address_ = nullptr;
  aclrtDrvMemHandle handle_ = nullptr;
  std::vector<unsigned char> kept_;
};

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));
  const size_t free_at_start = free_bytes();
  const auto used_mb = [&] { return (free_at_start - free_bytes()) / kMB; };
  bool good = true;
  {
    SleepingBlock weights{0, 100 * kMB};
    std::vector<unsigned char> numbers(weights.size());
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<unsigned char>(i * 7 + i / 253);
    CHECK(aclrtMemcpy(weights.data(), weights.size(), numbers.data(), numbers.size(),
                      ACL_MEMCPY_HOST_TO_DEVICE));
    const unsigned char* const layer =
        static_cast<unsigned char*>(weights.data()) + 30 * kMB;  // kept by the program
    std::printf("the model is awake: %zu MB of the device in use\n", used_mb());

    weights.sleep();
    std::printf("it sleeps: %zu MB in use\n", used_mb());
    unsigned char byte = 0;
    std::printf("a copy from its addresses returns %d meanwhile\n",
                aclrtMemcpy(&byte, 1, layer, 1, ACL_MEMCPY_DEVICE_TO_HOST));

    void* other = nullptr;
    CHECK(aclrtMalloc(&other, 300 * kMB, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemset(other, kMB, 0, kMB));
    std::printf("another model uses the device: %zu MB in use\n", used_mb());
    CHECK(aclrtFree(other));

    weights.wake();
    std::vector<unsigned char> found(10 * kMB);
    CHECK(aclrtMemcpy(found.data(), found.size(), layer, found.size(), ACL_MEMCPY_DEVICE_TO_HOST));
    for (size_t i = 0; i < found.size(); ++i) good = good && found[i] == numbers[30 * kMB + i];
    std::printf("it is awake again: %zu MB in use, and the old pointer leads to %s\n", used_mb(),
                good ? "the same numbers" : "something else");
  }
  good = good && used_mb() == 0;
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return good ? 0 : 1;
}
