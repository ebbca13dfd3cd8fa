// A stream ends with its device, and is used after that.
#include "program.h"

int main() {
  must(aclInit(nullptr));
  must(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
#ifdef BUG
  must(aclrtResetDevice(0));
  must(aclrtSetDevice(0));
  aclrtSynchronizeStream(stream);
#else
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyStream(stream));
#endif
  must(aclrtResetDevice(0));
  must(aclFinalize());
}
