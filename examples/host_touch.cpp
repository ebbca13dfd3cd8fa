// The classic mistake: host code follows a device pointer. This program is meant to crash.
//
// A device pointer looks like any other pointer, so the compiler says nothing, and a bare segmentation fault
// says little more. Under belay the program still dies of SIGSEGV, but first two lines say which block was
// touched, where, and what to do instead. Run it with BELAY_FAULTS=off to see the difference.
#include <cstdio>

#include "acl/acl.h"

int main() {
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  void* block = nullptr;
  if (aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_SUCCESS) return 1;
  if (aclrtMemset(block, 1000, 7, 1000) != ACL_SUCCESS) return 1;

  std::printf("reading byte 8 of the device block %p from host code ...\n", block);
  std::fflush(stdout);

  // volatile: without it the compiler may drop a read whose value nobody needs.
  const volatile unsigned char* bytes = static_cast<unsigned char*>(block);
  const int value = bytes[8];

  // Not reached, unless BELAY_HOST_ACCESS=allow lets the host in.
  std::printf("it is %d\n", value);
  return 0;
}
