// Virtual memory: addresses, physical memory, and mapping one to the other.
#include "runtime/virtual_memory.h"

#include "acl/acl.h"
#include "api/door.h"
#include "runtime/memory_queries.h"
#include "runtime/peer_mapping.h"

using namespace belay;

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                uint64_t flags) {
  return enter("aclrtReserveMemAddress", [&](Process& p) {
    return reserve_addresses(p, {virPtr, size, alignment, expectPtr, flags});
  });
}

aclError aclrtReserveMemAddressNoUCMemory(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                          uint64_t flags) {
  return enter("aclrtReserveMemAddressNoUCMemory", [&](Process& p) {
    return reserve_high_addresses(p, {virPtr, size, alignment, expectPtr, flags});
  });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return enter("aclrtReleaseMemAddress", [&](Process& p) { return release_addresses(p, virPtr); });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop,
                             uint64_t flags) {
  return enter("aclrtMallocPhysical",
               [&](Process& p) { return allocate_physical(p, handle, size, prop, flags); });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return enter("aclrtFreePhysical", [&](Process& p) { return free_physical(p, handle); });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
  return enter("aclrtMapMem", [&](Process& p) {
    return map_memory(p, {virPtr, size, offset, handle, flags}, true);
  });
}

aclError aclrtMemMapNoAccess(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                             uint64_t flags) {
  return enter("aclrtMemMapNoAccess", [&](Process& p) {
    return map_memory(p, {virPtr, size, offset, handle, flags}, false);
  });
}

aclError aclrtUnmapMem(void* virPtr) {
  return enter("aclrtUnmapMem", [&](Process& p) { return unmap_memory(p, virPtr); });
}

aclError aclrtMemSetAccess(void* virPtr, size_t size, aclrtMemAccessDesc* desc, size_t count) {
  return enter("aclrtMemSetAccess", [&](Process& p) { return set_access(p, virPtr, size, desc, count); });
}

aclError aclrtMemGetAccess(void* virPtr, aclrtMemLocation* location, uint64_t* flag) {
  return enter("aclrtMemGetAccess", [&](Process& p) { return get_access(p, virPtr, location, flag); });
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option,
                                          size_t* granularity) {
  return enter("aclrtMemGetAllocationGranularity",
               [&](Process& p) { return belay::granularity(p, prop, option, granularity); });
}

aclError aclrtMemRetainAllocationHandle(void* virPtr, aclrtDrvMemHandle* handle) {
  return enter("aclrtMemRetainAllocationHandle",
               [&](Process& p) { return retain_handle(p, virPtr, handle); });
}

aclError aclrtMemGetAllocationPropertiesFromHandle(aclrtDrvMemHandle handle, aclrtPhysicalMemProp* prop) {
  return enter("aclrtMemGetAllocationPropertiesFromHandle",
               [&](Process& p) { return physical_properties(p, handle, prop); });
}

aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize) {
  return enter("aclrtMemGetAddressRange", [&](Process& p) { return address_range(p, ptr, pbase, psize); });
}

aclError aclrtMemMapSelectedLink(void* virPtrDst, size_t size, void* virPtrSrc, uint32_t linkIdx) {
  return enter("aclrtMemMapSelectedLink",
               [&](Process& p) { return map_selected_link(p, virPtrDst, size, virPtrSrc, linkIdx); });
}

aclError aclrtMemMapSetLink(aclrtDrvMemHandle handle, aclrtMemLinkType adviceLink) {
  return enter("aclrtMemMapSetLink", [&](Process& p) { return set_link(p, handle, adviceLink); });
}

aclError aclrtMemP2PMap(void* devPtr, size_t size, int32_t dstDevId, uint64_t flags) {
  return enter("aclrtMemP2PMap", [&](Process& p) { return map_for_peer(p, devPtr, size, dstDevId, flags); });
}
