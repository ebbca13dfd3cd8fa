// Functions that the compiler has put into their callers are named, with their lines.
#include "program.h"

struct Buffer {
  void* block = nullptr;
  aclError code = ACL_SUCCESS;
  [[gnu::always_inline]] void make() { must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST)); }
  [[gnu::always_inline]] void drop() { code = aclrtFree(block); }
};

template <class Kind>
[[gnu::always_inline]] inline void clear(Kind& kind) {
  kind.drop();
}

namespace {
[[gnu::noinline]] void work(Buffer& buffer) {
  buffer.make();
  clear(buffer);
}
}  // namespace

int main() {
  const Device device;
  Buffer buffer;
  work(buffer);
#ifdef BUG
  clear(buffer);
#endif
}
