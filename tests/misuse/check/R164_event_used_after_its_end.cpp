// An event is recorded after it was destroyed.
#include "program.h"

int main() {
  const Device device;
  aclrtEvent handle = nullptr;
  must(aclrtCreateEvent(&handle));
  must(aclrtDestroyEvent(handle));
#ifdef BUG
  aclrtRecordEvent(handle, nullptr);
#endif
}
