// A stream should write a word of host memory: words are on devices.
#include "program.h"

int main() {
  const Device device;
  void* word = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtMalloc(&word, 8, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  alignas(8) static char host[8];
  aclrtValueWrite(host, 7, 0, stream);
#else
  must(aclrtValueWrite(word, 7, 0, stream));
#endif
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(word));
  must(aclrtDestroyStream(stream));
}
