/* Shows where pages of managed memory are, by what the device has in use. */
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"

static size_t free_at_start;

static size_t free_now(void) {
  size_t free = 0, total = 0;
  if (aclrtGetMemInfo(ACL_HBM_MEM, &free, &total) != ACL_SUCCESS) return 0;
  return free;
}

static void say(const char* what) {
  printf("%-38s %zu MB on the device\n", what, (free_at_start - free_now()) >> 20);
}

int main(void) {
  const size_t size = (size_t)8 << 20;
  const aclrtMemManagedLocation device = {ACL_MEM_LOCATIONTYPE_DEVICE, 0},
                                host = {ACL_MEM_LOCATIONTYPE_HOST, 0};
  void* memory = NULL;
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  free_at_start = free_now();

  if (aclrtMemAllocManaged(&memory, size, ACL_RT_MEM_ATTACH_GLOBAL) != ACL_SUCCESS) return 1;
  say("allocated, 8 MB");
  memset(memory, 1, size / 2); /* plain host code */
  say("the host wrote the first half");
  if (aclrtMemset((char*)memory + size / 2, size / 2, 2, size / 2) != ACL_SUCCESS) return 1;
  say("aclrtMemset wrote the second half");
  if (aclrtMemManagedPrefetchAsync(memory, size, device, 0, NULL) != ACL_SUCCESS) return 1;
  if (aclrtSynchronizeStream(NULL) != ACL_SUCCESS) return 1;
  say("prefetched to the device");
  if (aclrtMemManagedPrefetchAsync(memory, size, host, 0, NULL) != ACL_SUCCESS) return 1;
  if (aclrtSynchronizeStream(NULL) != ACL_SUCCESS) return 1;
  say("prefetched to the host");
  printf("the host reads %d and %d\n", *(char*)memory, *((char*)memory + size / 2));
  return aclrtFree(memory) == ACL_SUCCESS && aclrtResetDevice(0) == ACL_SUCCESS &&
                 aclFinalize() == ACL_SUCCESS
             ? 0
             : 1;
}
