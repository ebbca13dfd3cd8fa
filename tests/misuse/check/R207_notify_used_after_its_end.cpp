// A notify is recorded after it was destroyed.
#include "program.h"

int main() {
  const Device device;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  aclrtNotify handle = nullptr;
  must(aclrtCreateNotify(&handle, 0));
  must(aclrtDestroyNotify(handle));
#ifdef BUG
  aclrtRecordNotify(handle, stream);
#endif
  must(aclrtDestroyStream(stream));
}
