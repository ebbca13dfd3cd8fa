// What programs may ask about memory: amounts, modules, kinds of addresses.
#pragma once

#include <cstdint>
#include <string_view>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/process.h"

namespace belay {

Status memory_info(Process& process, aclrtMemAttr attribute, std::size_t* free, std::size_t* total);
Status memory_usage(Process& process, std::int32_t device, aclrtMemUsageInfo* list, std::size_t room,
                    std::size_t* filled);
Status check_memory_type(Process& process, void** addresses, std::uint32_t count, std::uint32_t types,
                         std::uint32_t* result, std::uint32_t reserve);
// V-201 … V-206. `base` or `bytes` may be null.
Status address_range(Process& process, void* pointer, void** base, std::size_t* bytes);
Status pointer_attributes(Process& process, const void* pointer, aclrtPtrAttributes* attributes);

}  // namespace belay
