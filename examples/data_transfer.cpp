// Data transfer: 1 MB travels host -> host -> device -> device -> host, in one piece and in rows, and every
// byte is checked.
//
//   ./data_transfer          host blocks from aclrtMallocHost (page-locked)
//   ./data_transfer malloc   host blocks from malloc (pageable)
//
// Both kinds of host memory may be copied from and to. Page-locked memory is scarce: `ulimit -l` bounds what
// one user may lock.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"

namespace {

constexpr size_t kBytes = 1024 * 1024;

// The code alone says little; aclGetRecentErrMsg says which value was wrong, and why.
void check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d\n%s", call, code, message != nullptr ? message : "");
  std::exit(1);
}
#define CHECK(call) check(call, #call)

// Host memory remembers nothing about where it came from, so the program must.
struct HostBlock {
  bool pinned;
  unsigned char* bytes = nullptr;

  explicit HostBlock(bool pin) : pinned{pin} {
    void* memory = nullptr;
    if (pinned) {
      CHECK(aclrtMallocHost(&memory, kBytes));
    } else {
      memory = std::malloc(kBytes);
      if (memory == nullptr) std::abort();
    }
    bytes = static_cast<unsigned char*>(memory);
  }
  HostBlock(const HostBlock&) = delete;
  HostBlock& operator=(const HostBlock&) = delete;

  // Each block goes back to the function that goes with its allocation: free() on a pinned block, or
  // aclrtFreeHost on malloc memory, would be a bug.
  void release() {
    if (pinned) {
      CHECK(aclrtFreeHost(bytes));
    } else {
      std::free(bytes);
    }
    bytes = nullptr;
  }
};

unsigned char pattern(size_t i) { return static_cast<unsigned char>(i * 31 + i / 251); }

void verify(const HostBlock& block, const char* what) {
  for (size_t i = 0; i < kBytes; ++i) {
    if (block.bytes[i] == pattern(i)) continue;
    std::fprintf(stderr, "%s: byte %zu is %02x, expected %02x\n", what, i, block.bytes[i], pattern(i));
    std::exit(1);
  }
  std::printf("%-18s %zu bytes, all as expected\n", what, kBytes);
}

}  // namespace

int main(int argc, char** argv) {
  const bool pinned = argc < 2 || std::strcmp(argv[1], "malloc") != 0;

  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));

  // On a card in a host (ACL_HOST) host and device are two memories. Where the program runs on the chip
  // itself (ACL_DEVICE) there is only one, and every copy stays inside it. Asking makes one source serve
  // both.
  aclrtRunMode mode;
  CHECK(aclrtGetRunMode(&mode));
  const bool two_memories = mode == ACL_HOST;
  const aclrtMemcpyKind host_to_host = two_memories ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE;
  const aclrtMemcpyKind to_device = two_memories ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_DEVICE;
  const aclrtMemcpyKind to_host = two_memories ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE;
  const char* soc = aclrtGetSocName();
  std::printf("device 0 is %s, run mode %s, host memory from %s\n", soc != nullptr ? soc : "an unknown chip",
              two_memories ? "ACL_HOST" : "ACL_DEVICE", pinned ? "aclrtMallocHost" : "malloc");

  HostBlock source{pinned};
  HostBlock target{pinned};
  void* first = nullptr;
  void* second = nullptr;
  CHECK(aclrtMalloc(&first, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY));
  CHECK(aclrtMalloc(&second, kBytes, ACL_MEM_MALLOC_NORMAL_ONLY));

  for (size_t i = 0; i < kBytes; ++i) source.bytes[i] = pattern(i);

  // The second argument is the room at the destination. Passing the real size lets the runtime refuse a copy
  // that would run over; passing `count` twice would switch that check off.
  CHECK(aclrtMemcpy(target.bytes, kBytes, source.bytes, kBytes, host_to_host));
  verify(target, "host to host");

  // The host cannot look into device memory, so what arrived there is seen by copying it back.
  CHECK(aclrtMemcpy(first, kBytes, source.bytes, kBytes, to_device));
  std::memset(target.bytes, 0, kBytes);
  CHECK(aclrtMemcpy(target.bytes, kBytes, first, kBytes, to_host));
  verify(target, "host to device");

  CHECK(aclrtMemcpy(second, kBytes, first, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
  std::memset(target.bytes, 0, kBytes);
  CHECK(aclrtMemcpy(target.bytes, kBytes, second, kBytes, to_host));
  verify(target, "device to device");

  // Rows that are a pitch apart are copied by one call, however many they are. On the chip itself there is
  // no such call.
  if (two_memories) {
    constexpr size_t kRow = 1024;
    std::memset(target.bytes, 0, kBytes);
    CHECK(aclrtMemcpy2d(target.bytes, kRow, second, kRow, kRow, kBytes / kRow, to_host));
    verify(target, "in rows to host");
  }

  CHECK(aclrtFree(second));
  CHECK(aclrtFree(first));
  target.release();
  source.release();
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  std::printf("done\n");
  return 0;
}
