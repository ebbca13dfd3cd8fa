// A notify is never destroyed.
#include "program.h"

int main() {
  const Device device;
  aclrtNotify notify = nullptr;
  must(aclrtCreateNotify(&notify, 0));
#ifndef BUG
  must(aclrtDestroyNotify(notify));
#endif
}
