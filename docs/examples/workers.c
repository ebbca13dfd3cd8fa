/* Two processes that share a machine: one frees too little, the other makes a mistake and leaves by _exit. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"

static void work(int device, int blocks) {
  void* block[8];
  static char data[4096];
  aclrtSetDevice(device);
  for (int i = 0; i < blocks; ++i) aclrtMalloc(&block[i], 3000000, ACL_MEM_MALLOC_HUGE_FIRST);
  aclrtMemcpy(block[0], sizeof data, data, sizeof data, ACL_MEMCPY_HOST_TO_DEVICE);
  for (int i = 1; i < blocks; ++i) aclrtFree(block[i]);
}

int main(void) {
  const pid_t child = fork();
  if (child == 0) {
    void* too_much = NULL;
    work(1, 2);
    aclrtMalloc(&too_much, (size_t)1 << 40, ACL_MEM_MALLOC_HUGE_FIRST);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  work(0, 8);
  return 0;
}
