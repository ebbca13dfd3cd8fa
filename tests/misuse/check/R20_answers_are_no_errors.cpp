// What programs ask in order to find out is no failed call: that something is not supported, and that it was
// started or ended already. The mistake is another one, a device that is not there.

// ends: 0
#include "program.h"

int main() {
  must(aclInit(nullptr));
  must(aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE);
  must(aclrtSetDevice(0));
  void* address = nullptr;
  must(aclrtCtxGetFloatOverflowAddr(&address) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
#ifdef BUG
  must(aclrtSetDevice(99) != ACL_SUCCESS);
#endif
  must(aclrtResetDevice(0));
  must(aclFinalize());
  must(aclFinalize() == ACL_ERROR_REPEAT_FINALIZE);
}
