// Memory of malloc is given to aclrtFreeHost.
#include "program.h"

int main() {
  const Device device;
  void* buffer = std::malloc(kBytes);
#ifdef BUG
  aclrtFreeHost(buffer);
#endif
  std::free(buffer);
}
