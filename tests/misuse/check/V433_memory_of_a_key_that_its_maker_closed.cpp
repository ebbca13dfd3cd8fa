// The process that exported the memory closes the key while the other still copies from it.
// environment: BELAY_MACHINE=check-V433
#include "two_processes.h"

int main() {
  return in_two_processes(
      [](const Way& other) {
        const Device device;
        void* block = nullptr;
        must(aclrtMalloc(&block, kGranule, ACL_MEM_MALLOC_HUGE_FIRST));
        must(aclrtMemset(block, kGranule, 7, kGranule));
        Key key;
        must(aclrtIpcMemGetExportKey(block, kGranule, key.text, sizeof key.text,
                                     ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
        other.say(key);
        (void)other.hear<bool>();  // it has imported it
#ifndef BUG
        (void)other.hear<bool>();  // it has closed it
#endif
        must(aclrtIpcMemClose(key.text));
        must(aclrtFree(block));
        other.say(true);
      },
      [](const Way& other) {
        const Device device;
        const Key key = other.hear<Key>();
        void* theirs = nullptr;
        must(aclrtIpcMemImportByKey(&theirs, key.text, 0));
        other.say(true);
#ifdef BUG
        (void)other.hear<bool>();
#endif
        static unsigned char bytes[kBytes];
        may_fail(aclrtMemcpy(bytes, kBytes, theirs, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
        must(aclrtIpcMemClose(key.text));
#ifndef BUG
        must(bytes[0] == 7);
        other.say(true);
        (void)other.hear<bool>();
#endif
      });
}
