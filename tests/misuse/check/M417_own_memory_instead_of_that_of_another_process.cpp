// Memory that another process has written is imported, and then memory of its own is read, which nobody has.
// environment: BELAY_MACHINE=check-M417
#include "two_processes.h"

int main() {
  return in_two_processes([](const Way& other) { give_by_key(other); },
                          [](const Way& other) {
                            const Device device;
                            const Key key = other.hear<Key>();
                            void *theirs = nullptr, *own = nullptr;
                            must(aclrtIpcMemImportByKey(&theirs, key.text, 0));
                            must(aclrtMalloc(&own, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
                            static unsigned char bytes[kBytes];
#ifdef BUG
                            const void* const from = own;
#else
                            const void* const from = theirs;
#endif
                            must(aclrtMemcpy(bytes, kBytes, from, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
                            must(aclrtMemcpy(own, kBytes, bytes, kBytes, ACL_MEMCPY_HOST_TO_DEVICE));
                            must(aclrtFree(own));
                            must(aclrtIpcMemClose(key.text));
                            other.say(true);
                          });
}
