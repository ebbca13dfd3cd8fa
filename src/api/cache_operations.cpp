// Cache operations.
#include "runtime/cache_operations.h"

#include "acl/acl.h"
#include "api/door.h"

using namespace belay;

aclError aclrtCmoAsync(void* src, size_t size, aclrtCmoType cmoType, aclrtStream stream) {
  return enter("aclrtCmoAsync", [&](Process& p) { return cache_operation(p, src, size, cmoType, stream); });
}

aclError aclrtCmoAsyncWithBarrier(void* src, size_t size, aclrtCmoType cmoType, uint32_t barrierId,
                                  aclrtStream stream) {
  return enter("aclrtCmoAsyncWithBarrier", [&](Process& p) {
    return cache_operation_with_barrier(p, src, size, cmoType, barrierId, stream);
  });
}

// `flag` is documented as 0 and not looked at (V-371).
aclError aclrtCmoWaitBarrier(aclrtBarrierTaskInfo* taskInfo, aclrtStream stream, uint32_t) {
  return enter("aclrtCmoWaitBarrier", [&](Process& p) { return wait_for_barriers(p, taskInfo, stream); });
}

aclError aclrtCmoGetDescSize(size_t* size) {
  return enter("aclrtCmoGetDescSize", [&](Process& p) { return cache_descriptor_size(p, size); });
}

aclError aclrtCmoSetDesc(void* cmoDesc, void* src, size_t size) {
  return enter("aclrtCmoSetDesc", [&](Process& p) { return set_cache_descriptor(p, cmoDesc, src, size); });
}

aclError aclrtCmoAsyncWithDesc(void* cmoDesc, aclrtCmoType cmoType, aclrtStream stream, const void* reserve) {
  return enter("aclrtCmoAsyncWithDesc", [&](Process& p) {
    return cache_operation_by_descriptor(p, cmoDesc, cmoType, stream, reserve);
  });
}
