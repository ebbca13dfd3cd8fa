// Managed memory: one address for host and devices.
#include "runtime/managed_memory.h"

#include "acl/acl.h"
#include "api/door.h"

using namespace belay;

aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag) {
  return enter("aclrtMemAllocManaged", [&](Process& p) { return allocate_managed(p, ptr, size, flag); });
}

aclError aclrtMemManagedAdvise(const void* const ptr, uint64_t size, aclrtMemManagedAdviseType advise,
                               aclrtMemManagedLocation location) {
  return enter("aclrtMemManagedAdvise",
               [&](Process& p) { return advise_managed(p, ptr, size, advise, location); });
}

aclError aclrtMemManagedGetAttr(aclrtMemManagedRangeAttribute attribute, const void* ptr, size_t size,
                                void* data, size_t dataSize) {
  return enter("aclrtMemManagedGetAttr", [&](Process& p) -> Status {
    if (data == nullptr) return null_pointer("V-307", "data");
    return query_managed(p, {&attribute, 1, ptr, size, &data, &dataSize});
  });
}

aclError aclrtMemManagedGetAttrs(aclrtMemManagedRangeAttribute* attributes, size_t numAttributes,
                                 const void* ptr, size_t size, void** data, size_t* dataSizes) {
  return enter("aclrtMemManagedGetAttrs", [&](Process& p) {
    return query_managed(p, {attributes, numAttributes, ptr, size, data, dataSizes});
  });
}

aclError aclrtMemManagedPrefetchAsync(const void* ptr, size_t size, aclrtMemManagedLocation location,
                                      uint32_t flags, aclrtStream stream) {
  return enter("aclrtMemManagedPrefetchAsync",
               [&](Process& p) { return prefetch_managed(p, ptr, size, location, flags, stream); });
}

aclError aclrtMemManagedPrefetchBatchAsync(const void** ptrs, size_t* sizes, size_t count,
                                           aclrtMemManagedLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                           size_t numPrefetchLocs, uint64_t flags, aclrtStream stream) {
  return enter("aclrtMemManagedPrefetchBatchAsync", [&](Process& p) {
    return prefetch_managed_batch(p, {ptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs},
                                  flags, stream);
  });
}
