/* Makes one mistake with virtual memory, and prints what belay says about it: virtual_mistakes
   copy_into_a_hole|unmap_twice|release_mapped|other_device|touch|forget */
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"

static const size_t size = (size_t)2 << 20;

static aclrtDrvMemHandle memory_of(unsigned device) {
  aclrtPhysicalMemProp property;
  aclrtDrvMemHandle handle = NULL;
  memset(&property, 0, sizeof property);
  property.memAttr = ACL_HBM_MEM_HUGE;
  property.location.id = device;
  property.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  return aclrtMallocPhysical(&handle, size, &property, 0) == ACL_SUCCESS ? handle : NULL;
}

int main(int count, char** words) {
  const char* mistake = count > 1 ? words[1] : "";
  void* address = NULL;
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(1) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS)
    return 1;
  if (aclrtReserveMemAddress(&address, 4 * size, 0, NULL, 0) != ACL_SUCCESS) return 1;
  aclrtDrvMemHandle handle = memory_of(0);
  if (handle == NULL || aclrtMapMem(address, size, 0, handle, 0) != ACL_SUCCESS) return 1;

  aclError code = ACL_SUCCESS;
  if (strcmp(mistake, "copy_into_a_hole") == 0) {
    code = aclrtMemset((char*)address + size - 100, 200, 0, 200);
  } else if (strcmp(mistake, "unmap_twice") == 0) {
    if (aclrtUnmapMem(address) != ACL_SUCCESS) return 1;
    code = aclrtUnmapMem(address);
  } else if (strcmp(mistake, "release_mapped") == 0) {
    code = aclrtReleaseMemAddress(address);
  } else if (strcmp(mistake, "other_device") == 0) {
    code = aclrtMapMem((char*)address + size, size, 0, memory_of(1), 0);
  } else if (strcmp(mistake, "touch") == 0) {
    *(volatile char*)address = 1;
  } else if (strcmp(mistake, "forget") == 0) {
    return 0;
  }
  const char* message = aclGetRecentErrMsg();
  printf("%s\n", message != NULL ? message : "(nothing)");
  fflush(stdout);
  return code == ACL_SUCCESS ? 1 : 0;
}
