// From one device to another: peer access, and a copy between two cards.
//
// Most products refuse such a copy until access was enabled. Access has a direction, from the device that is
// current to the peer, so a program that copies both ways enables it on both. Atlas A3 copies without it.
#include <cstddef>
#include <cstdint>
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

constexpr size_t kBytes = 4 * 1024 * 1024;

// Memory comes from the device that is current. The P2P policies are for memory that two devices exchange.
void* allocate_on(int32_t device) {
  CHECK(aclrtSetDevice(device));
  void* block = nullptr;
  CHECK(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
  return block;
}

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  uint32_t count = 0;
  CHECK(aclrtGetDeviceCount(&count));
  if (count < 2) {
    std::printf("devices of this machine: %u; two are needed\n", count);
    return 0;
  }
  int32_t possible = 0;
  CHECK(aclrtDeviceCanAccessPeer(&possible, 0, 1));
  std::printf("device 0 can reach device 1: %s\n", possible != 0 ? "yes" : "no");
  if (possible == 0) return 0;

  void* there = allocate_on(1);
  void* here = allocate_on(0);  // device 0 is current from here on
  std::vector<unsigned char> data(kBytes);
  for (size_t i = 0; i < kBytes; ++i) data[i] = static_cast<unsigned char>(i * 7 + i / 255);
  CHECK(aclrtMemcpy(here, kBytes, data.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE));

  const aclError early = aclrtMemcpy(there, kBytes, here, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE);
  std::printf("copy before access is enabled: %d\n", early);
  if (early != ACL_SUCCESS) {
    const char* message = aclGetRecentErrMsg();
    std::printf("%s", message != nullptr ? message : "");
  }

  CHECK(aclrtDeviceEnablePeerAccess(1, 0));  // device 0 to device 1; the second argument is reserved
  CHECK(aclrtSetDevice(1));
  CHECK(aclrtDeviceEnablePeerAccess(0, 0));  // and back
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtMemcpy(there, kBytes, here, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  std::printf("copy after it: 0\n");

  std::vector<unsigned char> back(kBytes);
  CHECK(aclrtMemcpy(back.data(), kBytes, there, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
  if (back != data) {
    std::fprintf(stderr, "the bytes on device 1 differ from those on device 0\n");
    return 1;
  }
  std::printf("device 1 holds the %zu bytes of device 0\n", kBytes);

  // A block may be freed whichever device is current; each aclrtSetDevice has its aclrtResetDevice.
  CHECK(aclrtFree(there));
  CHECK(aclrtFree(here));
  CHECK(aclrtResetDevice(1));
  CHECK(aclrtResetDevice(1));
  CHECK(aclrtResetDevice(0));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
