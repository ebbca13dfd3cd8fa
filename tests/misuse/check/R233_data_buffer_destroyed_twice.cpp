// A data buffer is destroyed twice.
#include "program.h"

int main() {
  const Device device;
  static char host[kBytes];
  aclDataBuffer* buffer = aclCreateDataBuffer(host, kBytes);
  must(buffer != nullptr);
  must(aclDestroyDataBuffer(buffer));
#ifdef BUG
  aclDestroyDataBuffer(buffer);
#endif
}
