// A stream waits until bit 1 of a word is set. Nobody set it, and whatever is there lets the stream go on at
// once.
#include "program.h"

int main() {
  const Device device;
  void* word = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtMalloc(&word, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtCreateStream(&stream));
#ifndef BUG
  must(aclrtMemset(word, kBytes, 0, sizeof(std::uint64_t)));
  must(aclrtValueWrite(word, 2, 0, stream));
#endif
  must(aclrtValueWait(word, 2, ACL_STREAM_WAIT_VALUE_AND, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtDestroyStream(stream));
  must(aclrtFree(word));
}
