// An event is destroyed twice.
#include "program.h"

int main() {
  const Device device;
  aclrtEvent handle = nullptr;
  must(aclrtCreateEvent(&handle));
  must(aclrtDestroyEvent(handle));
#ifdef BUG
  aclrtDestroyEvent(handle);
#endif
}
