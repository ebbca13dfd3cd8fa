/* Holds device memory until its input ends: memory_holder [DEVICE POLICY BYTES]... [close]
   What has a minus in front of its BYTES is freed again at once. When all is done, it says "ready" and what
   device 0 has left. With "close" it first closes all its files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"

static int hold(int device, unsigned policy, const char* bytes) {
  void* block = NULL; /* mostly never freed: the process takes it along */
  const int keep = bytes[0] != '-';
  if (aclrtSetDevice(device) != ACL_SUCCESS) {
    return 0;
  }
  return aclrtMallocAlign32(&block, strtoull(bytes + !keep, NULL, 0), (aclrtMemMallocPolicy)policy) ==
             ACL_SUCCESS &&
         (keep || aclrtFree(block) == ACL_SUCCESS);
}

int main(int count, char** words) {
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
    (void)fprintf(stderr, "%s\n", aclGetRecentErrMsg());
    return 1;
  }
  for (int i = 1; i + 2 < count; i += 3) {
    if (!hold(atoi(words[i]), (unsigned)strtoul(words[i + 1], NULL, 0), words[i + 2])) {
      (void)fprintf(stderr, "%s\n", aclGetRecentErrMsg());
      return 2;
    }
  }
  size_t left = 0;
  size_t total = 0;
  if (aclrtSetDevice(0) != ACL_SUCCESS || aclrtGetMemInfo(ACL_HBM_MEM, &left, &total) != ACL_SUCCESS) {
    return 3;
  }
  if (count > 1 && strcmp(words[count - 1], "close") == 0) {
    for (int file = 3; file < 1024; ++file) {
      (void)close(file);
    }
  }
  (void)printf("ready %zu\n", left);
  (void)fflush(stdout);
  while (getchar() != EOF) {
  }
  return 0;
}
