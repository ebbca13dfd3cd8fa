// A context is destroyed twice.
#include "program.h"

int main() {
  const Device device;
  aclrtContext handle = nullptr;
  must(aclrtCreateContext(&handle, 0));
  must(aclrtDestroyContext(handle));
#ifdef BUG
  aclrtDestroyContext(handle);
#endif
  must(aclrtSetDevice(0));
  must(aclrtResetDevice(0));
}
