// The destructor of a static object frees what the program has freed: main is over, the report is complete.
#include "program.h"

struct Cache {
  void* block = nullptr;
  ~Cache() {
#ifdef BUG
    (void)aclrtFree(block);
#endif
  }
};
Cache g_cache;

int main() {
  must(aclInit(nullptr));
  must(aclrtSetDevice(0));
  must(aclrtMalloc(&g_cache.block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST));
  must(aclrtFree(g_cache.block));
}
