// What programs ask in order to find out is no failed call: that something is not supported, that a wait was
// too short, that nobody has subscribed the thread yet, and that it was started or ended already. The mistake
// is another one, a device that is not there.

// ends: 0
#include "program.h"

int main() {
  must(aclInit(nullptr));
  must(aclInit(nullptr) == ACL_ERROR_REPEAT_INITIALIZE);
  must(aclrtSetDevice(0));
  void* address = nullptr;
  must(aclrtCtxGetFloatOverflowAddr(&address) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  must(aclrtProcessReport(1) == ACL_ERROR_RT_THREAD_SUBSCRIBE);
  aclrtStream stream = nullptr;
  must(aclrtCreateStream(&stream));
  aclrtNotify notify = nullptr;
  must(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  must(aclrtWaitAndResetNotify(notify, stream, 0));
  must(aclrtSynchronizeStreamWithTimeout(stream, 1) == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  must(aclrtDestroyStreamForce(stream));
  must(aclrtDestroyNotify(notify));
#ifdef BUG
  must(aclrtSetDevice(99) != ACL_SUCCESS);
#endif
  must(aclrtResetDevice(0));
  must(aclFinalize());
  must(aclFinalize() == ACL_ERROR_REPEAT_FINALIZE);
}
