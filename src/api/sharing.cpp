// Memory that other processes use, too: share values of handles, and keys of device pointers.
#include "runtime/sharing.h"

#include "acl/acl.h"
#include "api/door.h"

using namespace belay;

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
                                         uint64_t flags, uint64_t* shareableHandle) {
  return enter("aclrtMemExportToShareableHandle",
               [&](Process& p) { return export_handle(p, handle, handleType, flags, shareableHandle); });
}

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                           aclrtMemSharedHandleType shareType, void* shareableHandle) {
  return enter("aclrtMemExportToShareableHandleV2",
               [&](Process& p) { return export_handle(p, handle, flags, shareType, shareableHandle); });
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum) {
  return enter("aclrtMemSetPidToShareableHandle",
               [&](Process& p) { return allow_handle(p, shareableHandle, pid, pidNum); });
}

aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType,
                                           int32_t* pid, size_t pidNum) {
  return enter("aclrtMemSetPidToShareableHandleV2",
               [&](Process& p) { return allow_handle(p, shareableHandle, shareType, pid, pidNum); });
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                           aclrtDrvMemHandle* handle) {
  return enter("aclrtMemImportFromShareableHandle",
               [&](Process& p) { return import_handle(p, shareableHandle, deviceId, handle); });
}

aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle, aclrtMemSharedHandleType shareType,
                                             uint64_t flags, aclrtDrvMemHandle* handle) {
  return enter("aclrtMemImportFromShareableHandleV2",
               [&](Process& p) { return import_handle(p, shareableHandle, shareType, flags, handle); });
}

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags) {
  return enter("aclrtIpcMemGetExportKey", [&](Process& p) {
    return export_key(p, {devPtr, size, key, len, flags});
  });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
  return enter("aclrtIpcMemSetImportPid", [&](Process& p) { return allow_key(p, key, pid, num); });
}

aclError aclrtIpcMemImportPidInterServer(const char* key, aclrtServerPid* serverPids, size_t num) {
  return enter("aclrtIpcMemImportPidInterServer",
               [&](Process& p) { return allow_key_on_servers(p, key, serverPids, num); });
}

aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags) {
  return enter("aclrtIpcMemImportByKey", [&](Process& p) { return import_key(p, devPtr, key, flags); });
}

aclError aclrtIpcMemSetAttr(const char* key, aclrtIpcMemAttrType type, uint64_t attr) {
  return enter("aclrtIpcMemSetAttr", [&](Process& p) { return set_key_attribute(p, key, type, attr); });
}

aclError aclrtIpcMemClose(const char* key) {
  return enter("aclrtIpcMemClose", [&](Process& p) { return close_key(p, key); });
}
