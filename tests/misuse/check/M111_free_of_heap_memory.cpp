// Memory of malloc is given to aclrtFree.
#include "program.h"

int main() {
  const Device device;
  void* buffer = std::malloc(kBytes);
#ifdef BUG
  aclrtFree(buffer);
#endif
  std::free(buffer);
}
