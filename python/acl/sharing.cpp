// acl.rt: memory that several processes use.
#include "call.h"

namespace belay::python {

Functions sharing() {
  return {
      row<"acl.rt.mem_export_to_shareable_handle", aclrtMemExportToShareableHandle, kHeld, Ptr, I32, U64,
          Out<std::uint64_t>>(
          R"((handle: int, handle_type: int, flags: int) -> (shareable: int, ret: int)

A number by which other processes import physical memory; once for each handle. `handle_type` is 0; `flags` 0:
only processes named with mem_set_pid_to_shareable_handle, 1: any. [Y-131, V-215])"),
      row<"acl.rt.mem_set_pid_to_shareable_handle", aclrtMemSetPidToShareableHandle, kHeld, U64, PidList>(
          R"((shareable: int, pids: list) -> ret: int

Names processes that may import it, by what device_get_bare_tgid gives in them, while they run. Calls add up.
[Y-132, V-232])"),
      row<"acl.rt.mem_import_from_shareable_handle", aclrtMemImportFromShareableHandle, kHeld, U64, I32,
          Out<void*>>(R"((shareable: int, device: int) -> (handle: int, ret: int)

A handle of this process to memory of another; map it, and give it back with free_physical. The memory stays as
long as any process holds it. [Y-133, V-243])"),
      row<"acl.rt.ipc_mem_get_export_key", aclrtIpcMemGetExportKey, kHeld, Ptr, Ptr, KeyOut, U64>(
          R"((ptr: int, size: int, len: int, flags: int) -> (key: str, ret: int)

A key by which other processes import these bytes of device memory, until ipc_mem_close. `ptr` is at the start of
a page, `len` is 65; `flags` 0: only processes named with ipc_mem_set_import_pid, 1: any. [Y-135, V-382])"),
      row<"acl.rt.ipc_mem_set_import_pid", aclrtIpcMemSetImportPid, kHeld, Str, PidList>(
          R"((key: str, pids: list) -> ret: int

Names up to 31 processes that may import it, by what device_get_bare_tgid gives in them, while they run. Calls
add up. [Y-137, V-398])"),
      row<"acl.rt.ipc_mem_import_by_key", aclrtIpcMemImportByKey, kHeld, Out<void*>, Str, U64>(
          R"((key: str, flags: int) -> (ptr: int, ret: int)

The memory of a key at an address of this process, on the current device; the same for each further import.
`flags` 1 enables peer access. Close it with ipc_mem_close; do not free it. [Y-138, V-409])"),
      row<"acl.rt.ipc_mem_close", aclrtIpcMemClose, kHeld, Str>(R"((key: str) -> ret: int

Ends one import of the key here, else the key itself where it was made. Importers close first. [Y-139, V-428])"),
  };
}

}  // namespace belay::python
