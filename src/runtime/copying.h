// The synchronous copies and fills: the documented checks in the documented order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/process.h"

namespace belay {

Status copy(Process& process, void* to, std::size_t room, const void* from, std::size_t count,
            aclrtMemcpyKind kind);
Status copy_2d(Process& process, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
               std::size_t width, std::size_t height, aclrtMemcpyKind kind);

struct BatchArguments {
  void** to;
  std::size_t* rooms;
  void** from;
  std::size_t* sizes;
  std::size_t count;
  aclrtMemcpyBatchAttr* attributes;
  std::size_t* attribute_starts;
  std::size_t attribute_count;
};
// `fail_index` is never null here.
Status copy_batch(Process& process, const BatchArguments& batch, std::size_t* fail_index);

// Copy descriptors: their size, and writing one into device memory at once (M-323 ... M-340).
Status copy_descriptor_size(Process& process, aclrtMemcpyKind kind, std::size_t* bytes);
Status set_copy_descriptor(Process& process, void* descriptor, aclrtMemcpyKind kind, void* from, void* to,
                           std::size_t count, const void* configuration);

Status fill(Process& process, void* to, std::size_t room, std::int32_t value, std::size_t count);
Status fill_d32(Process& process, void* to, std::size_t room, std::uint32_t value, std::size_t words);

}  // namespace belay
