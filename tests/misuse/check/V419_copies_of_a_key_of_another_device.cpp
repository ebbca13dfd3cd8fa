// Memory of device 0 that was imported on device 1 is copied in ways that the documents do not allow: to the
// host, within the device but at once, and with ACL_MEMCPY_DEFAULT.
// environment: BELAY_MACHINE=check-V419
// ends: 0
#include "two_processes.h"

int main() {
  return in_two_processes([](const Way& other) { give_by_key(other); },
                          [](const Way& other) {
                            const Device device;
                            must(aclrtSetDevice(1));
                            must(aclrtDeviceEnablePeerAccess(0, 0));
                            const Key key = other.hear<Key>();
                            void *theirs = nullptr, *own = nullptr;
                            must(aclrtIpcMemImportByKey(&theirs, key.text, 0));
                            must(aclrtMalloc(&own, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
                            aclrtStream stream = nullptr;
                            must(aclrtCreateStream(&stream));
                            static unsigned char bytes[kBytes];
#ifdef BUG
                            must(aclrtMemcpy(bytes, kBytes, theirs, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
                            must(aclrtMemcpy(own, kBytes, theirs, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
                            must(aclrtMemcpyAsync(own, kBytes, theirs, kBytes, ACL_MEMCPY_DEFAULT, stream));
#else
                            must(aclrtMemcpyAsync(own, kBytes, theirs, kBytes, ACL_MEMCPY_DEVICE_TO_DEVICE,
                                                  stream));
#endif
                            must(aclrtSynchronizeStream(stream));
                            must(aclrtMemcpy(bytes, kBytes, own, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
                            must(bytes[kBytes - 1] == 7);
                            must(aclrtDestroyStream(stream));
                            must(aclrtIpcMemClose(key.text));
                            must(aclrtFree(own));
                            must(aclrtResetDevice(1));
                            must(aclrtSetDevice(0));
                            must(aclrtResetDevice(0));
                            other.say(true);
                          });
}
