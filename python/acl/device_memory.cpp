// acl.rt: device memory, queries, words that streams write and wait for.
#include "call.h"

namespace belay::python {

Functions device_memory() {
  return {
      row<"acl.rt.malloc", aclrtMalloc, kHeld, Out<void*>, Ptr, I32>(
          R"((size: int, policy: int) -> (ptr: int, ret: int)

Allocates device memory: linear, its start a multiple of 64, contents not initialised (use memset).
`size` is rounded up to a multiple of 32, and 32 bytes are added, but not with a 1 GB policy. 0 is refused
with (0, 100000). On failure `ptr` is 0 and `ret` says why; nothing is raised.

policy  0  huge pages (2 MB) first, normal ones (4 KB) if there are none; up to 1 MB always normal ones
        1  huge pages only           2  normal pages only
        3, 4, 5  the same for memory that another device may reach (P2P)
        6, 7     1 GB pages only, ordinary and P2P
A number outside these takes huge pages from 2 MB on and normal ones below. Pass int(...): a numpy integer is
not accepted as a size. Allocating often is slow on hardware; allocate ahead and cut blocks yourself. Free with
acl.rt.free. [Y-90, Y-216, Y-217, M-34])"),
      row<"acl.rt.malloc_align32", aclrtMallocAlign32, kHeld, Out<void*>, Ptr, I32>(
          R"((size: int, policy: int) -> (ptr: int, ret: int)

Like malloc(), but `size` is only rounded up to 32; nothing is added. [Y-91])"),
      row<"acl.rt.malloc_cached", aclrtMallocCached, kHeld, Out<void*>, Ptr, I32>(
          R"((size: int, policy: int) -> (ptr: int, ret: int)

Like malloc(), but knows the policies 0, 1, 2 and 6 only. [Y-92, M-62])"),
      row<"acl.rt.malloc_with_cfg", aclrtMallocWithCfg, kHeld, Out<void*>, Ptr, I32, MallocConfig>(
          R"((size: int, policy: int, cfg: dict) -> (ptr: int, ret: int)

Like malloc_align32(), with attributes; {} is none:
{"numAttrs": 1, "attrs": [{"attr": 1, "value": {"moduleId": 33}}]}. A misspelled key is ignored.
[Y-93, Y-94, Y-95])"),
      row<"acl.rt.malloc_for_task_scheduler", aclrtMallocForTaskScheduler, kHeld, Out<void*>, Ptr, I32,
          MallocConfig>(R"((size: int, policy: int, cfg: dict) -> (ptr: int, ret: int)

Memory that the chip's task scheduler can reach. [Y-93])"),
      row<"acl.rt.free", aclrtFree, kHeld, Ptr>(R"((ptr: int) -> ret: int

Frees a block of any device allocator at once, without waiting for streams that may still use it. Only the start of a block can be freed. [Y-96])"),
      row<"acl.rt.get_mem_info", aclrtGetMemInfo, kHeld, I32, Out<std::size_t>, Out<std::size_t>>(
          R"((attr: int) -> (free: int, total: int, ret: int)

Free and total bytes of the current device. `attr` is a kind of memory, not a device: 0 DDR, 1 HBM, 4 HBM huge
pages, 5 HBM normal pages, ... [Y-112, Y-113])"),
      row<"acl.rt.mem_flush", aclrtMemFlush, kHeld, Ptr, Ptr>(R"((ptr: int, size: int) -> ret: int

Checks its arguments; caches need no flushing. [Y-115])"),
      row<"acl.rt.mem_invalidate", aclrtMemInvalidate, kHeld, Ptr, Ptr>(R"((ptr: int, size: int) -> ret: int

Checks its arguments; caches need no invalidating. [Y-115])"),
      row<"acl.rt.cmo_async", aclrtCmoAsync, kReleased, Ptr, Ptr, I32, Ptr>(
          R"((src: int, size: int, cmo_type: int, stream: int) -> ret: int

Has the stream prefetch a range into the cache (type 0; 1 write back, 2 invalidate, 3 flush). No byte changes.
[Y-117, V-355])"),
      row<"acl.rt.pointer_get_attributes", aclrtPointerGetAttributes, kHeld, Ptr, Out<aclrtPtrAttributes>>(
          R"((ptr: int) -> (attrs: dict, ret: int)

Where an address is: {"location": {"id", "type"}, "page_size", "rsv"}. Types: 0 host, 1 device,
2 unregistered, 3 managed, 4 host NUMA. [Y-116])"),
      row<"acl.rt.value_write", aclrtValueWrite, kReleased, Ptr, Ptr, U32, Ptr>(
          R"((ptr: int, value: int, flag: int, stream: int) -> ret: int

Has the stream write 64 bits to device memory. [Y-118])"),
      row<"acl.rt.value_wait", aclrtValueWait, kReleased, Ptr, Ptr, U32, Ptr>(
          R"((ptr: int, value: int, flag: int, stream: int) -> ret: int

Has the stream wait for 64 bits of device memory: 0 at least, 1 equal, 2 a bit in common, 3 nor. [Y-118])"),
  };
}

}  // namespace belay::python
