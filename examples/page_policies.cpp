// What each page policy really costs: the same requests under several policies, read off the device.
//
// The cost is what aclrtGetMemInfo falls by, the page size what aclrtPointerGetAttributes reports. Two lines
// are worth looking for. HUGE_FIRST changes from small to huge pages right after 1 MB. And 2 MB exactly costs
// two huge pages through aclrtMalloc, because 32 bytes are added to it, but one through aclrtMallocAlign32.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "acl/acl.h"

namespace {

void check(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s returned %d\n%s", call, code, message != nullptr ? message : "");
  std::exit(1);
}
#define CHECK(call) check(call, #call)

constexpr size_t kKiB = 1024, kMiB = 1024 * kKiB, kGiB = 1024 * kMiB;

size_t free_bytes() {
  size_t free = 0;
  size_t total = 0;
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));  // a chip with DDR answers this with its DDR figures
  return free;
}

std::string short_size(size_t bytes) {
  if (bytes >= kGiB && bytes % kGiB == 0) return std::to_string(bytes / kGiB) + " GB";
  if (bytes >= kMiB && bytes % kMiB == 0) return std::to_string(bytes / kMiB) + " MB";
  return std::to_string(bytes / kKiB) + " KB";
}

using Allocate = aclError (*)(void**, size_t, aclrtMemMallocPolicy);

// "4 MB / 2 MB", or the error number where the product lacks the policy.
std::string cost(Allocate allocate, size_t size, aclrtMemMallocPolicy policy) {
  const size_t before = free_bytes();
  void* block = nullptr;
  const aclError code = allocate(&block, size, policy);
  if (code != ACL_SUCCESS) {
    aclGetRecentErrMsg();  // expected here: fetched so that it does not head a later message
    return "error " + std::to_string(code);
  }
  const size_t taken = before - free_bytes();
  aclrtPtrAttributes attributes{};
  CHECK(aclrtPointerGetAttributes(block, &attributes));
  CHECK(aclrtFree(block));
  return short_size(taken) + " / " + short_size(attributes.pageSize);
}

struct Column {
  const char* title;
  Allocate allocate;
  aclrtMemMallocPolicy policy;
};
struct Row {
  const char* title;
  size_t size;
};

}  // namespace

int main() {
  CHECK(aclInit(nullptr));
  CHECK(aclrtSetDevice(0));

  const Column columns[] = {
      {"HUGE_FIRST", aclrtMalloc, ACL_MEM_MALLOC_HUGE_FIRST},
      {"HUGE_ONLY", aclrtMalloc, ACL_MEM_MALLOC_HUGE_ONLY},
      {"Align32 HUGE_ONLY", aclrtMallocAlign32, ACL_MEM_MALLOC_HUGE_ONLY},
      {"NORMAL_ONLY", aclrtMalloc, ACL_MEM_MALLOC_NORMAL_ONLY},
      {"HUGE_FIRST_P2P", aclrtMalloc, ACL_MEM_MALLOC_HUGE_FIRST_P2P},
      {"HUGE1G_ONLY", aclrtMalloc, ACL_MEM_MALLOC_HUGE1G_ONLY},
  };
  const Row rows[] = {
      {"1 byte", 1},      {"1 MB", kMiB}, {"1 MB + 1", kMiB + 1}, {"2 MB - 32", 2 * kMiB - 32},
      {"2 MB", 2 * kMiB}, {"1 GB", kGiB}, {"1 GB + 1", kGiB + 1},
  };

  const size_t at_start = free_bytes();
  std::printf("each cell: what the request takes / the size of its pages\n\n%-10s", "asked");
  for (const Column& column : columns) std::printf("  %-17s", column.title);
  std::printf("\n");
  for (const Row& row : rows) {
    std::printf("%-10s", row.title);
    for (const Column& column : columns) {
      std::printf("  %-17s", cost(column.allocate, row.size, column.policy).c_str());
    }
    std::printf("\n");
  }

  // Books that do not balance would make every figure above worthless.
  if (free_bytes() != at_start) {
    std::fprintf(stderr, "%zu bytes are missing\n", at_start - free_bytes());
    return 1;
  }
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
