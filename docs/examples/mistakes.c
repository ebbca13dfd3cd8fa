/* Makes one mistake, and prints what belay says about it: mistakes
   free_twice|fetch_late|too_much|forget|use_freed */
#include <stdio.h>
#include <string.h>

#include "acl/acl.h"

static void print_message(void) {
  const char* message = aclGetRecentErrMsg();
  printf("%s\n", message != NULL ? message : "(nothing)");
}

int main(int count, char** words) {
  const char* mistake = count > 1 ? words[1] : "";
  void* block = NULL;
  if (aclInit(NULL) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;

  if (strcmp(mistake, "free_twice") == 0 || strcmp(mistake, "fetch_late") == 0) {
    if (aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
    if (aclrtFree(block) != ACL_SUCCESS) return 1;
    if (aclrtFree(block) == ACL_SUCCESS) return 1;
    if (strcmp(mistake, "fetch_late") == 0 &&
        aclrtMalloc(NULL, 1000, ACL_MEM_MALLOC_HUGE_FIRST) == ACL_SUCCESS)
      return 1;
    print_message();
  } else if (strcmp(mistake, "too_much") == 0) {
    if (aclrtMalloc(&block, (size_t)60 << 30, ACL_MEM_MALLOC_HUGE_ONLY) != ACL_SUCCESS) return 1;
    void* more = NULL;
    if (aclrtMalloc(&more, (size_t)1 << 30, ACL_MEM_MALLOC_HUGE_ONLY) == ACL_SUCCESS) return 1;
    print_message();
    if (aclrtFree(block) != ACL_SUCCESS) return 1;
  } else if (strcmp(mistake, "forget") == 0) {
    if (aclrtMalloc(&block, 100, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
    if (aclrtMalloc(&block, 3000000, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
  } else if (strcmp(mistake, "use_freed") == 0) {
    if (aclrtMallocHost(&block, 5000) != ACL_SUCCESS || aclrtFreeHost(block) != ACL_SUCCESS) return 1;
    aclrtMemset(block, 5000, 0, 5000);
  } else {
    return 2;
  }
  return aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS ? 0 : 1;
}
