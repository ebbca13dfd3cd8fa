/* Holds device memory until its input ends: memory_holder [DEVICE POLICY BYTES]... [close]
   What has a minus in front of its BYTES is freed again at once. In place of a POLICY: "reserve" for
   addresses alone, "map" for physical memory of the device that is mapped there, "maphost" for the host's.
   When all is done, it says "ready" and what device 0 has left. With "close" it first closes all its files.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"

/* Mostly never freed: the process takes it along. */
static int hold_block(unsigned long policy, size_t bytes, int keep) {
  void* block = NULL;
  return aclrtMallocAlign32(&block, bytes, (aclrtMemMallocPolicy)policy) == ACL_SUCCESS &&
         (keep || aclrtFree(block) == ACL_SUCCESS);
}

static int hold_addresses(int device, const char* what, size_t bytes, int keep) {
  const int on_host = strcmp(what, "maphost") == 0;
  aclrtPhysicalMemProp prop = {ACL_MEM_HANDLE_TYPE_NONE,
                               ACL_MEM_ALLOCATION_TYPE_PINNED,
                               ACL_HBM_MEM_HUGE,
                               {(uint32_t)device, ACL_MEM_LOCATION_TYPE_DEVICE},
                               0};
  void* start = NULL;
  aclrtDrvMemHandle handle = NULL;
  if (on_host) {
    prop.location.type = ACL_MEM_LOCATION_TYPE_HOST;
    prop.location.id = 0;
  }
  if (aclrtReserveMemAddress(&start, bytes, 0, NULL, 0) != ACL_SUCCESS) {
    return 0;
  }
  if (strcmp(what, "reserve") == 0) {
    return keep || aclrtReleaseMemAddress(start) == ACL_SUCCESS;
  }
  return aclrtMallocPhysical(&handle, bytes, &prop, 0) == ACL_SUCCESS &&
         aclrtMapMem(start, bytes, 0, handle, 0) == ACL_SUCCESS &&
         (keep || aclrtUnmapMem(start) == ACL_SUCCESS);
}

static int hold(int device, const char* what, const char* bytes) {
  const int keep = bytes[0] != '-';
  const size_t size = strtoull(bytes + !keep, NULL, 0);
  if (aclrtSetDevice(device) != ACL_SUCCESS) {
    return 0;
  }
  return strcmp(what, "reserve") == 0 || strncmp(what, "map", 3) == 0
             ? hold_addresses(device, what, size, keep)
             : hold_block(strtoul(what, NULL, 0), size, keep);
}

int main(int count, char** words) {
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
    (void)fprintf(stderr, "%s\n", aclGetRecentErrMsg());
    return 1;
  }
  for (int i = 1; i + 2 < count; i += 3) {
    if (!hold(atoi(words[i]), words[i + 1], words[i + 2])) {
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
