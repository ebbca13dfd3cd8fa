// A program waits for a stream that nobody created.
#include "program.h"

int main() {
  const Device device;
  aclrtStream handle = nullptr;
#ifdef BUG
  handle = reinterpret_cast<aclrtStream>(0x5eed);
#endif
  (void)aclrtSynchronizeStream(handle);
}
