// A stream writes a word whose last bytes are not in its block.
#include "program.h"

int main() {
  const Device device;
  char* block = nullptr;
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  must(aclrtMalloc(reinterpret_cast<void**>(&block), 1004, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  const std::size_t offset = 1000;
#else
  const std::size_t offset = 992;
#endif
  must(aclrtValueWrite(block + offset, 7, 0, stream));
  must(aclrtSynchronizeStream(stream));
  must(aclrtFree(block));
  must(aclrtDestroyStream(stream));
}
