// A stream is to wait for an event that is destroyed.
#include "program.h"

int main() {
  const Device device;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  aclrtEvent handle = nullptr;
  must(aclrtCreateEvent(&handle));
  must(aclrtDestroyEvent(handle));
#ifdef BUG
  aclrtStreamWaitEvent(stream, handle);
#endif
  must(aclrtDestroyStream(stream));
}
