// A pool has a piece less than the program counts.
#include "program.h"

int main() {
  const Device device;
  constexpr std::size_t kPieces = 3;
  constexpr std::size_t kPiece = 1000;
  void* pool = nullptr;
  static char host[kBytes];
  must(aclrtMalloc(&pool, kPieces * kPiece, ACL_MEM_MALLOC_HUGE_FIRST));
#ifdef BUG
  constexpr std::size_t kLast = kPieces;
#else
  constexpr std::size_t kLast = kPieces - 1;
#endif
  must(aclrtMemcpy(static_cast<char*>(pool) + kLast * kPiece, kPiece, host, kPiece,
                   ACL_MEMCPY_HOST_TO_DEVICE));
  must(aclrtFree(pool));
}
