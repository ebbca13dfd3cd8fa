// A stream is destroyed twice.
#include "program.h"

int main() {
  const Device device;
  aclrtStream handle = nullptr;
  must(aclrtCreateStream(&handle));
  must(aclrtDestroyStream(handle));
#ifdef BUG
  aclrtDestroyStream(handle);
#endif
}
