/* Prints what is in memory that was not written yet: on the device, in a block that was freed and allocated
   again, and in pinned host memory. */
#include <stdio.h>

#include "acl/acl.h"

static void show(const char* what, const void* device) {
  unsigned char bytes[4] = {0};
  if (aclrtMemcpy(bytes, 4, device, 4, ACL_MEMCPY_DEVICE_TO_HOST) != ACL_SUCCESS) return;
  printf("%-22s %02X %02X %02X %02X\n", what, bytes[0], bytes[1], bytes[2], bytes[3]);
}

int main(void) {
  void *block = NULL, *pinned = NULL;
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  if (aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
  show("fresh", block);
  if (aclrtMemset(block, 2, 7, 2) != ACL_SUCCESS) return 1;
  show("two bytes set to 7", block);
  if (aclrtFree(block) != ACL_SUCCESS) return 1;
  if (aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
  show("freed and allocated", block);
  if (aclrtMallocHost(&pinned, 4096) != ACL_SUCCESS) return 1;
  const unsigned char* bytes = pinned;
  printf("%-22s %02X %02X %02X %02X\n", "fresh, pinned host", bytes[0], bytes[1], bytes[2], bytes[3]);
  if (aclrtFreeHost(pinned) != ACL_SUCCESS || aclrtFree(block) != ACL_SUCCESS) return 1;
  return aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS ? 0 : 1;
}
