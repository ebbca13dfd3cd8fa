/*
 * Data transfer in C99: the flow of data_transfer.cpp, call by call.
 *
 *   ./data_transfer          host blocks from aclrtMallocHost (page-locked)
 *   ./data_transfer malloc   host blocks from malloc (pageable)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"

#define BYTES ((size_t)1024 * 1024)

static void check(aclError code, const char* call) {
  const char* message;
  if (code == ACL_SUCCESS) return;
  message = aclGetRecentErrMsg(); /* NULL when there is none; valid until the next call */
  fprintf(stderr, "%s returned %d\n%s", call, code, message != NULL ? message : "");
  exit(1);
}
#define CHECK(call) check(call, #call)

static unsigned char pattern(size_t i) { return (unsigned char)(i * 31 + i / 251); }

static void verify(const unsigned char* bytes, const char* what) {
  for (size_t i = 0; i < BYTES; ++i) {
    if (bytes[i] == pattern(i)) continue;
    fprintf(stderr, "%s: byte %zu is %02x, expected %02x\n", what, i, bytes[i], pattern(i));
    exit(1);
  }
  printf("%-18s %zu bytes, all as expected\n", what, BYTES);
}

int main(int argc, char** argv) {
  const int pinned = argc < 2 || strcmp(argv[1], "malloc") != 0;
  aclrtRunMode mode;
  aclrtMemcpyKind host_to_host, to_device, to_host;
  void *source = NULL, *target = NULL, *first = NULL, *second = NULL;

  CHECK(aclInit(NULL));
  CHECK(aclrtSetDevice(0));

  /* One memory or two? A program that asks runs in both forms of a product. */
  CHECK(aclrtGetRunMode(&mode));
  host_to_host = mode == ACL_HOST ? ACL_MEMCPY_HOST_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE;
  to_device = mode == ACL_HOST ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_DEVICE;
  to_host = mode == ACL_HOST ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_DEVICE_TO_DEVICE;
  printf("run mode %s, host memory from %s\n", mode == ACL_HOST ? "ACL_HOST" : "ACL_DEVICE",
         pinned ? "aclrtMallocHost" : "malloc");

  if (pinned) {
    CHECK(aclrtMallocHost(&source, BYTES));
    CHECK(aclrtMallocHost(&target, BYTES));
  } else {
    source = malloc(BYTES);
    target = malloc(BYTES);
    if (source == NULL || target == NULL) return 1;
  }
  CHECK(aclrtMalloc(&first, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
  CHECK(aclrtMalloc(&second, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));

  for (size_t i = 0; i < BYTES; ++i) ((unsigned char*)source)[i] = pattern(i);

  CHECK(aclrtMemcpy(target, BYTES, source, BYTES, host_to_host));
  verify(target, "host to host");

  /* What arrived on the device is seen by copying it back. */
  CHECK(aclrtMemcpy(first, BYTES, source, BYTES, to_device));
  memset(target, 0, BYTES);
  CHECK(aclrtMemcpy(target, BYTES, first, BYTES, to_host));
  verify(target, "host to device");

  CHECK(aclrtMemcpy(second, BYTES, first, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE));
  memset(target, 0, BYTES);
  CHECK(aclrtMemcpy(target, BYTES, second, BYTES, to_host));
  verify(target, "device to device");

  /* Each block goes back to the function that goes with its allocation. */
  CHECK(aclrtFree(second));
  CHECK(aclrtFree(first));
  if (pinned) {
    CHECK(aclrtFreeHost(target));
    CHECK(aclrtFreeHost(source));
  } else {
    free(target);
    free(source);
  }
  CHECK(aclrtResetDevice(0));
  CHECK(aclFinalize());
  printf("done\n");
  return 0;
}
