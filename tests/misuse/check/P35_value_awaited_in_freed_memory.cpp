// A stream is to wait for a word of a block that is freed.
#include "program.h"

int main() {
  const Device device;
  void* block = nullptr;
  must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtMemset(block, kBytes, 0, kBytes));
#ifdef BUG
  must(aclrtFree(block));
  aclrtValueWait(block, 0, ACL_STREAM_WAIT_VALUE_EQ, stream);
#else
  must(aclrtValueWait(block, 0, ACL_STREAM_WAIT_VALUE_EQ, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
#endif
  must(aclrtDestroyStream(stream));
}
