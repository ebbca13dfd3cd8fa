/*
 * Running out of device memory, and going on.
 *
 * The program takes 1 GB blocks until the device has no more, prints what the runtime says about it, gives
 * one block back and goes on. Out of memory is 207001 (ACL_ERROR_RT_MEMORY_ALLOCATION) in every allocating
 * function. It is a result, not a broken state: nothing was taken, and the next call works as usual.
 *
 * A small device runs out sooner: BELAY_HBM=4G ./out_of_memory
 */
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

#define GIB ((size_t)1 << 30)
#define MOST_BLOCKS 256

static void check(aclError code, const char* call) {
  const char* message;
  if (code == ACL_SUCCESS) return;
  message = aclGetRecentErrMsg();
  fprintf(stderr, "%s returned %d\n%s", call, code, message != NULL ? message : "");
  exit(1);
}
#define CHECK(call) check(call, #call)

int main(void) {
  void* blocks[MOST_BLOCKS];
  size_t count = 0;
  size_t left = 0, total = 0;
  aclError code = ACL_SUCCESS;
  const char* message;

  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
  printf("the device has %zu bytes, %zu of them free\n", total, left);

  while (count < MOST_BLOCKS) {
    code = aclrtMalloc(&blocks[count], GIB, ACL_MEM_MALLOC_HUGE_FIRST);
    if (code != ACL_SUCCESS) break;
    ++count;
  }
  printf("block %zu of 1 GB was refused with %d\n", count + 1, code);
  if (code != ACL_ERROR_RT_MEMORY_ALLOCATION) return 1;

  /* After this failure the pointer is NULL: a program that forgot to look would not run on with a stale one.
   */
  if (blocks[count] != NULL) return 1;

  /* The message says how much was asked for, what it would have cost, and what is left. Fetching clears it.
   */
  message = aclGetRecentErrMsg();
  printf("\n%s\n", message != NULL ? message : "(no message)");

  /* Recover: give something back, ask again. Free memory rises at once. */
  if (count == 0) return 1;
  CHECK(aclrtFree(blocks[--count]));
  CHECK(aclrtGetMemInfo(ACL_HBM_MEM, &left, &total));
  printf("after freeing one block %zu bytes are free\n", left);
  CHECK(aclrtMalloc(&blocks[count], GIB, ACL_MEM_MALLOC_HUGE_FIRST));
  ++count;
  printf("the next request of 1 GB succeeded\n");

  while (count > 0) CHECK(aclrtFree(blocks[--count]));
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  return 0;
}
