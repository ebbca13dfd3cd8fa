// Error text and last error.
#include "acl/acl.h"
#include "api/door.h"

using namespace belay;

const char* aclGetRecentErrMsg(void) {
  const char* text = nullptr;
  answered("aclGetRecentErrMsg", [&]() -> Status {
    text = report::take_text();
    return done();
  });
  return text;
}

namespace {
aclError bad_level(const char* api, aclrtLastErrLevel level) {
  return answered(api, [&]() -> Status {
    return bad_value("R-21", "level", static_cast<int>(level), "ACL_RT_THREAD_LEVEL");
  });
}
}  // namespace

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  return level == ACL_RT_THREAD_LEVEL ? report::take_last_error() : bad_level("aclrtGetLastError", level);
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  return level == ACL_RT_THREAD_LEVEL ? report::last_error() : bad_level("aclrtPeekAtLastError", level);
}
