// A static object owns a block, and its destructor runs after main. One that frees it there loses nothing.
#include "program.h"

struct Cache {
  void* block = nullptr;
  void fill() { must(aclrtMalloc(&block, kBytes, ACL_MEM_MALLOC_HUGE_FIRST)); }
  ~Cache() {
#ifndef BUG
    must(aclrtFree(block));
#endif
  }
};
Cache g_cache;

int main() {
  must(aclInit(nullptr));
  must(aclrtSetDevice(0));
  g_cache.fill();
}
