// Pieces of virtual memory for programs of which only the end matters: each call works, or the program ends
// with 3.
#pragma once

#include <cstdlib>

#include "acl/acl.h"

namespace belay_test::pieces {

inline constexpr std::size_t kGranule = std::size_t{2} << 20;

inline void require(bool holds) {
  if (!holds) std::_Exit(3);
}

inline aclrtPhysicalMemProp prop(aclrtMemLocationType type, std::uint32_t id, aclrtMemAttr attribute) {
  return {ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_ALLOCATION_TYPE_PINNED, attribute, {id, type}, 0};
}

inline aclrtDrvMemHandle on_device(std::size_t bytes, std::uint32_t device = 0,
                                   aclrtMemAttr attribute = ACL_HBM_MEM_HUGE) {
  const aclrtPhysicalMemProp wish = prop(ACL_MEM_LOCATION_TYPE_DEVICE, device, attribute);
  aclrtDrvMemHandle handle = nullptr;
  require(aclrtMallocPhysical(&handle, bytes, &wish, 0) == ACL_SUCCESS);
  return handle;
}

inline aclrtDrvMemHandle on_host(std::size_t bytes) {
  const aclrtPhysicalMemProp wish = prop(ACL_MEM_LOCATION_TYPE_HOST, 0, ACL_MEM_HUGE);
  aclrtDrvMemHandle handle = nullptr;
  require(aclrtMallocPhysical(&handle, bytes, &wish, 0) == ACL_SUCCESS);
  return handle;
}

inline char* reserved(std::size_t bytes) {
  void* start = nullptr;
  require(aclrtReserveMemAddress(&start, bytes, 0, nullptr, 0) == ACL_SUCCESS);
  return static_cast<char*>(start);
}

inline void map(char* start, std::size_t bytes, aclrtDrvMemHandle handle) {
  require(aclrtMapMem(start, bytes, 0, handle, 0) == ACL_SUCCESS);
}

// For nobody, so that host memory needs no mapping by the kernel, which a sanitizer of threads leaves no room
// for.
inline void map_for_nobody(char* start, std::size_t bytes, aclrtDrvMemHandle handle) {
  require(aclrtMemMapNoAccess(start, bytes, 0, handle, 0) == ACL_SUCCESS);
}

inline char* managed(std::size_t bytes) {
  void* start = nullptr;
  require(aclrtMemAllocManaged(&start, bytes, ACL_RT_MEM_ATTACH_GLOBAL) == ACL_SUCCESS);
  return static_cast<char*>(start);
}

}  // namespace belay_test::pieces
