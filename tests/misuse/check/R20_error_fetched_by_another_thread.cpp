// The error of a worker is fetched by another thread, which is told nothing of it.

// ends: 0
#include <pthread.h>

#include "program.h"

void* work(void*) {
  must(aclrtSetDevice(0));
  void* block = nullptr;
  must(aclrtMalloc(&block, SIZE_MAX, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS);
#ifndef BUG
  must(aclGetRecentErrMsg() != nullptr);
#endif
  must(aclrtResetDevice(0));
  return nullptr;
}

int main() {
  const Device device;
  pthread_t worker{};
  must(pthread_create(&worker, nullptr, work, nullptr) == 0);
  must(pthread_join(worker, nullptr) == 0);
  (void)aclGetRecentErrMsg();
}
