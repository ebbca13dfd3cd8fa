// Allocating on the current device: the documented checks in the documented order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "memory/plan.h"
#include "runtime/process.h"

namespace belay {

// aclrtMalloc, Align32, Cached (M-81 ... M-87).
Status allocate(Process& process, Api api, void** out, std::size_t size, std::uint32_t policy);

// aclrtMallocWithCfg, ForTaskScheduler (M-96 ... M-105).
Status allocate_configured(Process& process, Api api, void** out, std::size_t size, std::uint32_t policy,
                           const aclrtMallocConfig* configuration);

// aclrtMallocHost and its configured form (M-170 ... M-186).
Status allocate_host(Process& process, void** out, std::size_t size);
Status allocate_host_configured(Process& process, void** out, std::uint64_t size,
                                const aclrtMallocConfig* configuration);

// Media memory (M-392 ... M-401). Version 2 has numbers of its own, which its door puts in place.
Status allocate_media(Process& process, Api api, void** out, std::size_t size);

}  // namespace belay
