// A stream ends with its context, and is used after that. The program destroys neither twice.
#include "program.h"

int main() {
  const Device device;
  aclrtContext context = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtCreateContext(&context, 0));
  must(aclrtCreateStream(&stream));
#ifdef BUG
  must(aclrtDestroyContext(context));
  aclrtSynchronizeStream(stream);
#else
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyStream(stream));
  must(aclrtDestroyContext(context));
#endif
  must(aclrtSetDevice(0));
  must(aclrtResetDevice(0));
}
