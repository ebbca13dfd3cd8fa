// Virtual memory: the documented checks of every call in their documented order (V-53 … V-214, V-518 …
// V-520).
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/process.h"

namespace belay {

struct ReserveArguments {
  void** out;
  std::size_t size, alignment;
  void* wished;
  std::uint64_t flags;
};
Status reserve_addresses(Process& process, const ReserveArguments& wish);
Status reserve_high_addresses(Process& process, const ReserveArguments& wish);
Status release_addresses(Process& process, void* start);

Status allocate_physical(Process& process, aclrtDrvMemHandle* out, std::size_t size,
                         const aclrtPhysicalMemProp* prop, std::uint64_t flags);
Status free_physical(Process& process, aclrtDrvMemHandle handle);
Status granularity(Process& process, const aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option,
                   std::size_t* out);
Status physical_properties(Process& process, aclrtDrvMemHandle handle, aclrtPhysicalMemProp* out);

struct MapArguments {
  void* start;
  std::size_t size, offset;
  aclrtDrvMemHandle handle;
  std::uint64_t flags;
};
Status map_memory(Process& process, const MapArguments& wish, bool accessible);
Status unmap_memory(Process& process, void* start);
Status map_selected_link(Process& process, void* to, std::size_t size, void* from, std::uint32_t link);
Status set_link(Process& process, aclrtDrvMemHandle handle, aclrtMemLinkType link);

Status set_access(Process& process, void* start, std::size_t size, const aclrtMemAccessDesc* descriptors,
                  std::size_t count);
Status get_access(Process& process, void* address, const aclrtMemLocation* location, std::uint64_t* out);
Status retain_handle(Process& process, void* start, aclrtDrvMemHandle* out);

}  // namespace belay
