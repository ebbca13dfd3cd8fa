// Cache operations: the documented checks of every call in their documented order (V-355 … V-381). There is
// no cache here, so they change no bytes; they have their place in the order of a stream.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/process.h"

namespace belay {

Status cache_operation(Process& process, void* start, std::size_t size, aclrtCmoType type,
                       aclrtStream stream);
Status cache_operation_with_barrier(Process& process, void* start, std::size_t size, aclrtCmoType type,
                                    std::uint32_t barrier, aclrtStream stream);
Status wait_for_barriers(Process& process, const aclrtBarrierTaskInfo* barriers, aclrtStream stream);
Status cache_descriptor_size(Process& process, std::size_t* out);
Status set_cache_descriptor(Process& process, void* descriptor, void* start, std::size_t size);
Status cache_operation_by_descriptor(Process& process, void* descriptor, aclrtCmoType type,
                                     aclrtStream stream, const void* reserve);

}  // namespace belay
