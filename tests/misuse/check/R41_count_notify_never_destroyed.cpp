// A count notify is never destroyed.

// options: --product 950
#include "program.h"

int main() {
  const Device device;
  aclrtCntNotify notify = nullptr;
  must(aclrtCntNotifyCreate(&notify, 0));
#ifndef BUG
  must(aclrtCntNotifyDestroy(notify));
#endif
}
