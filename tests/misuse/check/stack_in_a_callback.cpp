// A function that a stream calls frees what the program has freed.
#include "program.h"

[[gnu::noinline]] int drop(void* block) {
  const aclError code = aclrtFree(block);
  return code == ACL_SUCCESS ? 1 : 2;
}

static int g_outcome = 0;

void on_stream(void* block) { g_outcome = drop(block); }

int main() {
  const Device device;
  void *first = nullptr, *second = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&first, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtMalloc(&second, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtCreateStream(&stream));
  must(aclrtFree(first));
#ifdef BUG
  must(aclrtLaunchHostFunc(stream, on_stream, first));
#endif
  must(aclrtLaunchHostFunc(stream, on_stream, second));
  must(aclrtSynchronizeStream(stream));
  must(g_outcome == 1);
  must(aclrtDestroyStream(stream));
}
