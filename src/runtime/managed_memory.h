// Managed memory: the documented checks of every call in their documented order (V-279 … V-334).
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/process.h"

namespace belay {

Status allocate_managed(Process& process, void** out, std::uint64_t size, std::uint32_t flag);
Status advise_managed(Process& process, const void* start, std::uint64_t size,
                      aclrtMemManagedAdviseType advice, aclrtMemManagedLocation location);

struct ManagedQuestion {
  const aclrtMemManagedRangeAttribute* attributes;
  std::size_t count;
  const void* start;
  std::size_t size;
  void* const* data;
  const std::size_t* sizes;
};
// All of them are checked before the first one is answered (V-320).
Status query_managed(Process& process, const ManagedQuestion& question);

Status prefetch_managed(Process& process, const void* start, std::size_t size,
                        aclrtMemManagedLocation location, std::uint32_t flags, aclrtStream stream);
struct PrefetchBatch {
  const void** starts;
  const std::size_t* sizes;
  std::size_t count;
  const aclrtMemManagedLocation* locations;
  const std::size_t* location_starts;
  std::size_t location_count;
};
Status prefetch_managed_batch(Process& process, const PrefetchBatch& batch, std::uint64_t flags,
                              aclrtStream stream);

}  // namespace belay
