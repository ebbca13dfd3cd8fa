// The synchronous copies and fills: the documented checks in the documented order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/batch.h"
#include "runtime/process.h"

namespace belay {

Status copy(Process& process, void* to, std::size_t room, const void* from, std::size_t count,
            aclrtMemcpyKind kind);
Status copy_2d(Process& process, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
               std::size_t width, std::size_t height, aclrtMemcpyKind kind);

// `fail_index` is none of the lists: they are read after it is written.
Status copy_batch(Process& process, const BatchArguments& arguments, std::size_t& fail_index);

// Copy descriptors: their size, and writing one into device memory at once (M-323 ... M-340).
Status copy_descriptor_size(Process& process, aclrtMemcpyKind kind, std::size_t* bytes);
Status set_copy_descriptor(Process& process, void* descriptor, aclrtMemcpyKind kind, void* from, void* to,
                           std::size_t count, const void* configuration);

// Checks that the queued forms make too: M-305 ... M-307, M-321, M-310 and M-311; M-383 ... M-387.
Status check_2d_arguments(const void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                          std::size_t width, aclrtMemcpyKind kind);
Status check_2d_product(Process& process);
Status check_2d_size(std::size_t width, std::size_t height);
// What to pass where the kind does not fit: by name, and not ACL_MEMCPY_DEFAULT (M-322).
std::string kind_for_rows(const Location& from, const Location& to, bool on_device);
Status check_d32(const Memory& memory, const Location& to, std::size_t room, std::size_t words);

// aclrtDeviceTaskAbort is under way (M-9).
Refusal being_aborted(const char* rule, std::uint32_t device);

Status fill(Process& process, void* to, std::size_t room, std::int32_t value, std::size_t count);
Status fill_d32(Process& process, void* to, std::size_t room, std::uint32_t value, std::size_t words);

}  // namespace belay
