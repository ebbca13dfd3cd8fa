// Memory that goes to other processes, by handle or by key: the documented checks of every call in their
// documented order (V-215 … V-269, V-382 … V-435).
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/process.h"

namespace belay {

Status export_handle(Process& process, aclrtDrvMemHandle handle, aclrtMemHandleType type, std::uint64_t flags,
                     std::uint64_t* out);
Status export_handle(Process& process, aclrtDrvMemHandle handle, std::uint64_t flags,
                     aclrtMemSharedHandleType type, void* out);
Status allow_handle(Process& process, std::uint64_t value, const std::int32_t* pids, std::size_t count);
Status allow_handle(Process& process, const void* value, aclrtMemSharedHandleType type,
                    const std::int32_t* pids, std::size_t count);
Status import_handle(Process& process, std::uint64_t value, std::int32_t device, aclrtDrvMemHandle* out);
Status import_handle(Process& process, const void* value, aclrtMemSharedHandleType type, std::uint64_t flags,
                     aclrtDrvMemHandle* out);

struct KeyArguments {
  void* start;
  std::size_t size;
  char* key;
  std::size_t room;
  std::uint64_t flags;
};
Status export_key(Process& process, const KeyArguments& wish);
Status allow_key(Process& process, const char* key, const std::int32_t* pids, std::size_t count);
Status allow_key_on_servers(Process& process, const char* key, const aclrtServerPid* servers,
                            std::size_t count);
Status import_key(Process& process, void** out, const char* key, std::uint64_t flags);
Status set_key_attribute(Process& process, const char* key, aclrtIpcMemAttrType type, std::uint64_t value);
Status close_key(Process& process, const char* key);

}  // namespace belay
