// A program with a bug that most machines hide: it waits for the wrong stream.
//
// The array goes to the device on one stream and comes back on another. The second one is made to wait for
// the first by an event; but at the end the program synchronises the first stream only, and adds up an array
// that may not have come back yet. Run it with BELAY_SCHEDULE=lazy, or with --fixed.
#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void check(aclError code, const char* what) {
  if (code == ACL_SUCCESS) return;
  const char* text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d\n%s\n", what, code, text != nullptr ? text : "");
  std::exit(2);
}
#define CHECK(call) check(call, #call)

constexpr std::size_t kCount = 200'000;
constexpr std::size_t kBytes = kCount * sizeof(std::uint64_t);

}  // namespace

int main(int argc, char** argv) {
  const bool fixed = argc > 1 && std::strcmp(argv[1], "--fixed") == 0;
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));

  void* there = nullptr;  // pinned memory, so that copies are really queued
  void* back = nullptr;
  void* device = nullptr;
  CHECK(aclrtMallocHost(&there, kBytes));
  CHECK(aclrtMallocHost(&back, kBytes));
  CHECK(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  auto* numbers = static_cast<std::uint64_t*>(there);
  for (std::size_t i = 0; i < kCount; ++i) numbers[i] = i;
  std::memset(back, 0, kBytes);

  aclrtStream up = nullptr;
  aclrtStream down = nullptr;
  aclrtEvent arrived = nullptr;
  CHECK(aclrtCreateStream(&up));
  CHECK(aclrtCreateStream(&down));
  CHECK(aclrtCreateEvent(&arrived));

  CHECK(aclrtMemcpyAsync(device, kBytes, there, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, up));
  CHECK(aclrtRecordEvent(arrived, up));
  CHECK(aclrtStreamWaitEvent(down, arrived));
  CHECK(aclrtMemcpyAsync(back, kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, down));
  CHECK(aclrtSynchronizeStream(fixed ? down : up));  // the bug: the copy back is on the other stream

  std::uint64_t sum = 0;
  const auto* result = static_cast<const std::uint64_t*>(back);
  for (std::size_t i = 0; i < kCount; ++i) sum += result[i];
  constexpr std::uint64_t kExpected = kCount * (kCount - 1) / 2;
  if (sum == kExpected) {
    std::printf("the sum is %llu: right\n", static_cast<unsigned long long>(sum));
  } else {
    std::printf("the sum is %llu: wrong, it should be %llu\n", static_cast<unsigned long long>(sum),
                static_cast<unsigned long long>(kExpected));
  }

  CHECK(aclrtDestroyEvent(arrived));
  CHECK(aclrtDestroyStream(down));
  CHECK(aclrtDestroyStream(up));
  CHECK(aclrtFree(device));
  CHECK(aclrtFreeHost(back));
  CHECK(aclrtFreeHost(there));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return sum == kExpected ? 0 : 1;
}
