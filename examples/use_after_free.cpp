// A cache frees a buffer that somebody still uses. Nothing fails visibly: the program looks at no return
// code. `belay check` finds it.
#include <cstdio>

#include "acl/acl.h"

static constexpr size_t kBytes = size_t{1} << 20;
static void* cached = nullptr;

static void* take_buffer() {
  if (cached == nullptr) aclrtMalloc(&cached, kBytes, ACL_MEM_MALLOC_HUGE_FIRST);
  return cached;
}

static void empty_cache() {
  aclrtFree(cached);
  cached = nullptr;
}

int main() {
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  void* buffer = take_buffer();
  empty_cache();
  aclrtMemset(buffer, kBytes, 0, kBytes);  // the mistake: the cache has freed it
  std::puts("done");
  return aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS ? 0 : 1;
}
