// acl.rt: reserved addresses, physical memory, and mapping one to the other.
#include "call.h"

namespace belay::python {

Functions virtual_memory() {
  return {
      row<"acl.rt.reserve_mem_address", aclrtReserveMemAddress, kHeld, Out<void*>, Ptr, Ptr, Ptr, U64>(
          R"((size: int, alignment: int, expect_ptr: int, flags: int) -> (va: int, ret: int)

Reserves addresses, and no memory. `alignment` and `flags` are 0; `expect_ptr` demands an address, 0 lets the
runtime choose. Give it back with release_mem_address. [Y-123, V-66])"),
      row<"acl.rt.release_mem_address", aclrtReleaseMemAddress, kHeld, Ptr>(R"((va: int) -> ret: int

Gives a reservation back, by its start; nothing may be mapped in it any more. [Y-124, V-93])"),
      row<"acl.rt.malloc_physical", aclrtMallocPhysical, kHeld, Out<void*>, Ptr, PhysicalMemProp, U64>(
          R"((size: int, prop: dict, flags: int) -> (handle: int, ret: int)

Physical memory without an address, in whole pages of 2 MB or 1 GB; `flags` is 0. `prop`, for 2 MB pages of
device 0: {"handleType": 0, "allocationType": 0, "memAttr": 13, "location": {"id": 0, "type": 1}, "reserve": 0}.
What is missing is 0, and a misspelled key is missing: without "location" it is host memory.
[Y-125, Y-126, V-99])"),
      row<"acl.rt.free_physical", aclrtFreePhysical, kHeld, Ptr>(R"((handle: int) -> ret: int

Gives physical memory back; while it is mapped it stays until unmap_mem. [Y-127, V-126])"),
      row<"acl.rt.map_mem", aclrtMapMem, kHeld, Ptr, Ptr, Ptr, Ptr, U64>(
          R"((va: int, size: int, offset: int, handle: int, flags: int) -> ret: int

Makes reserved addresses lead to physical memory: `size` is all of it, `offset` and `flags` are 0. Its device,
or the host, may use it at once. [Y-128, V-132])"),
      row<"acl.rt.unmap_mem", aclrtUnmapMem, kHeld, Ptr>(R"((va: int) -> ret: int

Ends one mapping, by its start. It waits for no stream: synchronise before. [Y-128, V-161])"),
      row<"acl.rt.mem_get_allocation_granularity", aclrtMemGetAllocationGranularity, kHeld, PhysicalMemProp,
          I32, Out<std::size_t>>(R"((prop: dict, option: int) -> (granularity: int, ret: int)

Of what sizes and addresses must be multiples: 2 MB, or 1 GB for 1 GB pages. `prop` as in malloc_physical;
`option` is 0 (minimum) or 1 (recommended), which give the same. [Y-129, V-53])"),
  };
}

}  // namespace belay::python
