// acl.media and acl.himpi: memory for media functions, whose addresses are multiples of 128 (Y-220).
#include "acl/media/hi_dvpp.h"
#include "acl/ops/acl_dvpp.h"
#include "call.h"

namespace belay::python {
namespace {

// Policy and attributes choose nothing here: media memory is of one kind.
aclError malloc_with_cfg(void** pointer, std::size_t size, std::int32_t, const aclrtMallocConfig*) {
  return acldvppMalloc(pointer, size);
}

// There is no media system to start: it always is (Y-173).
hi_s32 nothing_to_do() { return 0; }

}  // namespace

Functions media_memory() {
  return {
      row<"acl.media.dvpp_malloc", acldvppMalloc, kHeld, Out<void*>, Ptr>(
          R"((size: int) -> (ptr: int, ret: int)

Device memory for media functions of version 1: its start a multiple of 128, `size` rounded up to 32 plus 32.
[Y-169, Y-220])"),
      row<"acl.media.dvpp_free", acldvppFree, kHeld, Ptr>(R"((ptr: int) -> ret: int

Frees a block of dvpp_malloc(). [Y-169])"),
      row<"acl.media.dvpp_malloc_with_cfg", malloc_with_cfg, kHeld, Out<void*>, Ptr, I32, MallocConfig>(
          R"((size: int, policy: int, cfg: dict) -> (ptr: int, ret: int)

Like dvpp_malloc(); policy and attributes have no effect. [Y-170])"),
      row<"acl.himpi.dvpp_malloc", hi_mpi_dvpp_malloc, kHeldUnsigned, I32, Out<void*>, Ptr>(
          R"((dev: int, size: int) -> (ptr: int, ret: int)

Device memory for media functions of version 2: its start a multiple of 128. `dev` is ignored; the current device
is used. The code is unsigned. [Y-172, Y-220])"),
      row<"acl.himpi.dvpp_free", hi_mpi_dvpp_free, kHeldUnsigned, Ptr>(R"((ptr: int) -> ret: int

Frees a block of dvpp_malloc(). [Y-172])"),
      row<"acl.himpi.sys_init", nothing_to_do, kHeldUnsigned>(R"(() -> ret: int

Accepted; there is nothing to start. [Y-173])"),
      row<"acl.himpi.sys_exit", nothing_to_do, kHeldUnsigned>(R"(() -> ret: int

Accepted; there is nothing to end. [Y-173])"),
  };
}

}  // namespace belay::python
