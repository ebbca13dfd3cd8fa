// Questions about memory.
#include "runtime/memory_queries.h"

#include "acl/acl.h"
#include "api/door.h"

using namespace belay;

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return enter("aclrtGetMemInfo", [&](Process& p) { return memory_info(p, attr, free, total); });
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum,
                              size_t* outputNum) {
  return enter("aclrtGetMemUsageInfo",
               [&](Process& p) { return memory_usage(p, deviceId, memUsageInfo, inputNum, outputNum); });
}

aclError aclrtCheckMemType(void** addrList, uint32_t size, uint32_t memType, uint32_t* checkResult,
                           uint32_t reserve) {
  return enter("aclrtCheckMemType", [&](Process& p) {
    return check_memory_type(p, addrList, size, memType, checkResult, reserve);
  });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return enter("aclrtPointerGetAttributes",
               [&](Process& p) { return pointer_attributes(p, ptr, attributes); });
}
