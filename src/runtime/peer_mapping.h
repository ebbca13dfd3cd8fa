// aclrtMemP2PMap: memory of one device is made ready for another (V-335 … V-340). It is ready already, so
// only the checks are left.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "runtime/process.h"

namespace belay {

Status map_for_peer(Process& process, void* start, std::size_t size, std::int32_t peer, std::uint64_t flags);

}  // namespace belay
