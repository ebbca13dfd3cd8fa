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

// --- tasks that failed ----------------------------------------------------------------------------

aclError aclrtSetExceptionInfoCallback(aclrtExceptionInfoCallback callback) {
  return enter("aclrtSetExceptionInfoCallback", [&](Process& p) -> Status {
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    p.exceptions().set(callback);
    return done();
  });
}

namespace {

aclError change_registered(const char* api, aclrtExceptionInfoCallback callback,
                           void (Exceptions::*change)(aclrtExceptionInfoCallback)) {
  return enter(api, [&](Process& p) -> Status {
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (callback == nullptr)
      return rejected("R-224", "callback", "NULL", "there is no function", "pass a function");
    (p.exceptions().*change)(callback);
    return done();
  });
}

uint32_t read(const aclrtExceptionInfo* info, uint32_t rtExceptionInfo::*field) {
  return info != nullptr ? info->*field : UINT32_MAX;
}

}  // namespace

aclError aclrtExceptionInfoCallbackRegister(aclrtExceptionInfoCallback callback) {
  return change_registered("aclrtExceptionInfoCallbackRegister", callback, &Exceptions::add);
}

aclError aclrtExceptionInfoCallbackUnregister(aclrtExceptionInfoCallback callback) {
  return change_registered("aclrtExceptionInfoCallbackUnregister", callback, &Exceptions::remove);
}

uint32_t aclrtGetTaskIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read(info, &rtExceptionInfo::task);
}
uint32_t aclrtGetStreamIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read(info, &rtExceptionInfo::stream);
}
uint32_t aclrtGetThreadIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read(info, &rtExceptionInfo::thread);
}
uint32_t aclrtGetDeviceIdFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read(info, &rtExceptionInfo::device);
}
uint32_t aclrtGetErrorCodeFromExceptionInfo(const aclrtExceptionInfo* info) {
  return read(info, &rtExceptionInfo::code);
}
