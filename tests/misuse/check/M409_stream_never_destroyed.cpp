// A stream is still there when the device is reset.
#include "program.h"

int main() {
  const Device device;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
#ifndef BUG
  must(aclrtDestroyStream(stream));
#endif
}
