// A count notify is reset after it was destroyed.

// options: --product 950
#include "program.h"

int main() {
  const Device device;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  aclrtCntNotify handle = nullptr;
  must(aclrtCntNotifyCreate(&handle, 0));
  must(aclrtCntNotifyDestroy(handle));
#ifdef BUG
  aclrtCntNotifyReset(handle, stream);
#endif
  must(aclrtDestroyStream(stream));
}
