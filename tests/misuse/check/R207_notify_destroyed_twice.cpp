// A notify is destroyed twice.
#include "program.h"

int main() {
  const Device device;
  aclrtNotify handle = nullptr;
  must(aclrtCreateNotify(&handle, 0));
  must(aclrtDestroyNotify(handle));
#ifdef BUG
  aclrtDestroyNotify(handle);
#endif
}
