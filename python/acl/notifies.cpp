// acl.rt: notifies.
#include "call.h"

namespace belay::python {

Functions notifies() {
  return {
      row<"acl.rt.create_notify", aclrtCreateNotify, kHeld, Out<void*>, U64>(
          R"((flag: int) -> (notify: int, ret: int)

Makes a notify: a flag that one stream sets and another waits for and clears.)"),
      row<"acl.rt.destroy_notify", aclrtDestroyNotify, kReleased, Ptr>(R"((notify: int) -> ret: int

Ends a notify.)"),
      row<"acl.rt.record_notify", aclrtRecordNotify, kReleased, Ptr, Ptr>(
          R"((notify: int, stream: int) -> ret: int

Has the stream set the notify.)"),
      row<"acl.rt.wait_and_reset_notify", aclrtWaitAndResetNotify, kReleased, Ptr, Ptr, U32>(
          R"((notify: int, stream: int, seconds: int) -> ret: int

Has the stream wait for the notify and clear it; 0 waits for ever.)"),
      row<"acl.rt.get_notify_id", aclrtGetNotifyId, kHeld, Ptr, Out<std::uint32_t>>(
          R"((notify: int) -> (id: int, ret: int)

The number of the notify.)"),
      row<"acl.rt.notify_batch_reset", aclrtNotifyBatchReset, kReleased, HandleList>(
          R"((notifies: list) -> ret: int

Clears all notifies of a list.)"),
      row<"acl.rt.notify_get_export_key", aclrtNotifyGetExportKey, kHeld, Ptr, KeyOut, U64>(
          R"((notify: int, len: int, flags: int) -> (key: str, ret: int)

A key for other processes; `len` is 65. [Y-41])"),
      row<"acl.rt.notify_set_import_pid", aclrtNotifySetImportPid, kHeld, Ptr, PidList>(
          R"((notify: int, pids: list) -> ret: int

Which processes may use the key.)"),
      row<"acl.rt.notify_import_by_key", aclrtNotifyImportByKey, kHeld, Out<void*>, Str, U64>(
          R"((key: str, flags: int) -> (notify: int, ret: int)

The notify of another process, by its key.)"),
  };
}

}  // namespace belay::python
