// A key of device 0 is imported on device 1 with flag 0, and nobody enabled peer access between the two.
// environment: BELAY_MACHINE=check-V417
// ends: 0
#include "two_processes.h"

int main() {
  return in_two_processes([](const Way& other) { give_by_key(other); },
                          [](const Way& other) {
                            const Device device;
                            must(aclrtSetDevice(1));
#ifndef BUG
                            must(aclrtDeviceEnablePeerAccess(0, 0));
#endif
                            const Key key = other.hear<Key>();
                            void* theirs = nullptr;
                            must(aclrtIpcMemImportByKey(&theirs, key.text, 0));
                            must(aclrtIpcMemClose(key.text));
                            must(aclrtResetDevice(1));
                            must(aclrtSetDevice(0));
                            must(aclrtResetDevice(0));
                            other.say(true);
                          });
}
