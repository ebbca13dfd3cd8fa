// A forked child is checked as its parent is.
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

int main() {
  static char host[kBytes];
  const pid_t child = fork();
  {
    const Device device;
    void* block = nullptr;
    must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
    if (child != 0)
#endif
      must(aclrtMemset(block, kBytes, 0, kBytes));
    must(aclrtMemcpy(host, kBytes, block, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    must(aclrtFree(block));
  }
  int status = 0;
  if (child != 0) must(waitpid(child, &status, 0) == child && WIFEXITED(status));
}
