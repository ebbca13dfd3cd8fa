// The queued copies and fills: the documented checks in the documented order.
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/batch.h"
#include "runtime/process.h"

namespace belay {

// `feature`: which products have the function (M-275).
Status copy_async(Process& process, void* to, std::size_t room, const void* from, std::size_t count,
                  aclrtMemcpyKind kind, aclrtStream stream, Feature feature);
Status copy_2d_async(Process& process, void* to, std::size_t to_pitch, const void* from,
                     std::size_t from_pitch, std::size_t width, std::size_t height, aclrtMemcpyKind kind,
                     aclrtStream stream);
// `fail_index` is none of the lists: they are read after it is written.
Status copy_batch_async(Process& process, const BatchArguments& arguments, std::size_t& fail_index,
                        aclrtStream stream);
Status copy_by_descriptor(Process& process, const void* descriptor, aclrtMemcpyKind kind, aclrtStream stream);
struct OffsetArguments {
  void** to;
  std::size_t room, to_offset;
  const void** from;
  std::size_t count, from_offset;
};
Status copy_by_offset(Process& process, const OffsetArguments& copy, aclrtMemcpyKind kind,
                      aclrtStream stream);

Status fill_async(Process& process, void* to, std::size_t room, std::int32_t value, std::size_t count,
                  aclrtStream stream);
Status fill_d32_async(Process& process, void* to, std::size_t room, std::uint32_t value, std::size_t words,
                      aclrtStream stream);

// Words that streams write and wait for (P-31 ... P-49).
Status write_value(Process& process, void* address, std::uint64_t value, std::uint32_t flag,
                   aclrtStream stream);
Status wait_value(Process& process, void* address, std::uint64_t value, std::uint32_t flag,
                  aclrtStream stream);

}  // namespace belay
