// A context is never destroyed; the default one of the device need not be.
#include "program.h"

int main() {
  const Device device;
  aclrtContext context = nullptr;
  must(aclrtCreateContext(&context, 0));
#ifndef BUG
  must(aclrtDestroyContext(context));
#endif
  must(aclrtSetDevice(0));
  must(aclrtResetDevice(0));
}
