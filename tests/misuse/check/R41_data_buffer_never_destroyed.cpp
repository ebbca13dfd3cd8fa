// A data buffer is never destroyed.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes];
  aclDataBuffer* buffer = aclCreateDataBuffer(host, kBytes);
  must(buffer != nullptr);
#ifndef BUG
  must(aclDestroyDataBuffer(buffer));
#endif
}
