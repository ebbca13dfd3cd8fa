// What is damaged on a device, and repairing it. Nothing here ever is (R-270 ... R-272).
#include <algorithm>
#include <iterator>

#include "acl/acl.h"
#include "api/door.h"

using namespace belay;

namespace {

Status check_device(const Process& p, int32_t device, const char* rule) {
  if (Status here = needs_feature(p, Feature::FaultReports, rule); !here) return here;
  if (!p.has_device(device)) return bad_device(rule, device, p.device_count());
  return done();
}

}  // namespace

aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t, size_t* retSize) {
  return enter("aclrtGetMemUceInfo", [&](Process& p) -> Status {
    if (memUceInfoArray == nullptr) return null_pointer("R-270", "memUceInfoArray");
    if (retSize == nullptr) return null_pointer("R-270", "retSize");
    if (Status exists = check_device(p, deviceId, "R-270"); !exists) return exists;
    return give(retSize, size_t{0});
  });
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize) {
  return enter("aclrtMemUceRepair", [&](Process& p) -> Status {
    if (memUceInfoArray == nullptr) return null_pointer("R-271", "memUceInfoArray");
    if (arraySize > ACL_RT_MAX_RECORD_PA_NUM_PER_DEV)
      return bad_value("R-271", "arraySize", arraySize, "at most 20");
    for (size_t i = 0; i < arraySize; ++i) {
      const auto& words = memUceInfoArray[i].reserved;
      if (std::any_of(std::begin(words), std::end(words), [](size_t word) { return word != 0; }))
        return bad_value("R-271", "memUceInfoArray.reserved", fmt::format("in entry {}", i), "all zero");
    }
    return check_device(p, deviceId, "R-271");
  });
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo) {
  return enter("aclrtGetErrorVerbose", [&](Process& p) -> Status {
    if (errorInfo == nullptr) return null_pointer("R-272", "errorInfo");
    if (Status exists = check_device(p, deviceId, "R-272"); !exists) return exists;
    return give(errorInfo, aclrtErrorInfo{});
  });
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo) {
  return enter("aclrtRepairError", [&](Process& p) -> Status {
    if (errorInfo == nullptr) return null_pointer("R-272", "errorInfo");
    return check_device(p, deviceId, "R-272");
  });
}
