// A program waits for a stream that is destroyed.
#include "program.h"

int main() {
  const Device device;
  aclrtStream handle = nullptr;
  must(aclrtCreateStream(&handle));
  must(aclrtDestroyStream(handle));
#ifdef BUG
  aclrtSynchronizeStream(handle);
#endif
}
