// ends: 0
// A context is created before aclInit.
#include "program.h"

int main() {
  aclrtContext context = nullptr;
#ifdef BUG
  must(aclrtCreateContext(&context, 0));
  must(aclInit(nullptr));
#else
  must(aclInit(nullptr));
  must(aclrtCreateContext(&context, 0));
#endif
  must(aclrtDestroyContext(context));
  must(aclFinalize());
}
