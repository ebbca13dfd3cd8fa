// An event is never destroyed.
#include "program.h"

int main() {
  const Device device;
  aclrtEvent event = nullptr;
  must(aclrtCreateEvent(&event));
#ifndef BUG
  must(aclrtDestroyEvent(event));
#endif
}
