// acl.rt: page-locked host memory.
#include "call.h"

namespace belay::python {

Functions host_memory() {
  return {
      row<"acl.rt.malloc_host", aclrtMallocHost, kReleased, Out<void*>, Ptr>(
          R"((size: int) -> (ptr: int, ret: int)

Page-locked host memory, its start a multiple of 64, not cleared. Python may read and write it through
acl.util.ptr_to_bytes, acl.util.ptr_to_numpy and ctypes. Free with acl.rt.free_host. [Y-97, Y-98])"),
      row<"acl.rt.malloc_host_with_cfg", aclrtMallocHostWithCfg, kReleased, Out<void*>, Ptr, MallocConfig>(
          R"((size: int, cfg: dict) -> (ptr: int, ret: int)

The same with attributes, see malloc_with_cfg(). [Y-93])"),
      row<"acl.rt.free_host", aclrtFreeHost, kReleased, Ptr>(R"((ptr: int) -> ret: int

Frees a block of malloc_host(), at once. [Y-97])"),
      row<"acl.rt.host_register", aclrtHostRegister, kReleased, Ptr, Ptr, I32, Out<void*>>(
          R"((ptr: int, size: int, type: int) -> (dev_ptr: int, ret: int)

Locks memory of the program and gives it an address on the device; its start must be a multiple of 4096.
Types: 0 mapped, 4 I/O memory, 8 read only. [Y-119, Y-122])"),
      row<"acl.rt.host_register_v2", aclrtHostRegisterV2, kReleased, U64, U64, U32>(
          R"((ptr: int, size: int, flag: int) -> ret: int

Flags: 0x2 mapped, 0x4 I/O memory, 0x8 read only, 0x10000000 pinned. [Y-120])"),
      row<"acl.rt.host_get_device_pointer", aclrtHostGetDevicePointer, kHeld, U64, Out<void*>, U32>(
          R"((ptr: int, flag: int) -> (dev_ptr: int, ret: int)

The device address of registered memory; `flag` is 0. [Y-120])"),
      row<"acl.rt.host_unregister", aclrtHostUnregister, kReleased, Ptr>(R"((ptr: int) -> ret: int

Ends a registration. [Y-121])"),
  };
}

}  // namespace belay::python
