#include "runtime/sharing.h"

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/read_once.h"
#include "base/words.h"
#include "memory/ipc_keys.h"
#include "memory/shared_words.h"
#include "memory/sharing_words.h"
#include "platform/process.h"
#include "runtime/handles.h"
#include "runtime/inventory.h"
#include "runtime/memory_tasks.h"

namespace belay {
namespace {

using machine::Secret;
using machine::Share;
using machine::ShareKind;
using machine::Shares;

constexpr std::size_t kMostPidsOfHandle = 65535;                // in one call: V-234
constexpr std::size_t kMostPidsOfKey = 31, kMostOfKey = 32768;  // in one call and in all: V-399
constexpr std::size_t kMostOfKeyNewer = 65535;
constexpr std::int32_t kHighestPid = (1 << machine::Permission::kProcessBits) - 1;

// --- what goes from process to process ------------------------------------------------------------

// What aclrtMemFabricHandle holds (V-268).
struct FabricBlob {
  std::array<char, 8> magic;
  std::uint64_t version;
  Secret secret;
  std::array<std::uint8_t, 80> rest;
};
static_assert(sizeof(FabricBlob) == sizeof(aclrtMemFabricHandle));
constexpr std::array<char, 8> kFabricMagic{'b', 'e', 'l', 'a', 'y', 'f', 'a', 'b'};

FabricBlob fabric_blob(const Secret& secret) { return {kFabricMagic, 1, secret, {}}; }

std::optional<Secret> secret_of(const FabricBlob& blob) {
  const FabricBlob same = fabric_blob(blob.secret);
  return std::memcmp(&same, &blob, sizeof blob) == 0 ? std::optional{blob.secret} : std::nullopt;
}

// A share value as a program has it, and how messages show it.
struct Value {
  ShareKind kind;
  Secret secret;
  std::string shown() const { return fmt::format("{}…", fmt::format("{:016x}", secret[0]).substr(0, 8)); }
};

Value default_value(std::uint64_t value) { return {ShareKind::Handle, {value, 0, 0, 0}}; }

Refusal bad_share_type(const char* rule, aclrtMemSharedHandleType type) {
  return rejected(rule, "shareType", static_cast<int>(type), "there is no such type of share value",
                  "pass ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT or ACL_MEM_SHARE_HANDLE_TYPE_FABRIC");
}

bool is_share_type(aclrtMemSharedHandleType type) {
  return type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
}

Result<Value> value_in(const void* from, aclrtMemSharedHandleType type) {
  if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) {
    std::uint64_t value = 0;
    std::memcpy(&value, from, sizeof value);
    return default_value(value);
  }
  FabricBlob blob;
  std::memcpy(&blob, from, sizeof blob);
  if (const std::optional<Secret> secret = secret_of(blob)) return Value{ShareKind::Fabric, *secret};
  return rejected("V-268", "shareableHandle", hex(from), "the 128 bytes there are no fabric handle",
                  "copy all bytes of an aclrtMemFabricHandle that was exported as "
                  "ACL_MEM_SHARE_HANDLE_TYPE_FABRIC");
}

Status needs_handles(const Process& process) {
  if (host_is_device(process.settings().memory.form)) {
    return unsupported(
        "V-85", fmt::format("{} has no virtual memory: host and device share one", machine_in_words(process)),
        "allocate with aclrtMalloc, or use the EP form");
  }
  return needs_feature(process, Feature::VirtualMemory, "V-23");
}

// --- who may --------------------------------------------------------------------------------------

Shares& shares_of(Process& process) { return process.memory().machine().shares(); }

Refusal no_permission(const char* rule, std::string what, std::string solution) {
  return refuse({ACL_ERROR_RT_NO_PERMISSION, rule, "EL0003", std::move(what), "", std::move(solution)});
}

// May this process import it? `what`: "the share value 12345678…".
Status may_import(Process& process, const Share& share, const char* rule, const std::string& what,
                  const char* function) {
  const auto no = [&](std::string why) {
    return driver_refuses(
        rule,
        fmt::format("process {} may not import {} of process {}: {}", platform::process_id(), what,
                    share.process, why),
        fmt::format("let process {} call {} with the number that aclrtDeviceGetBareTgid returns here, while "
                    "this process runs, or export with flag 1",
                    share.process, function));
  };
  switch (shares_of(process).allows(share)) {
    case Shares::Answer::Yes:
      return done();
    case Shares::Answer::NotNamed:
      return no(
          fmt::format("it is not on its list, which names {}", counted(share.named, "process", "processes")));
    case Shares::Answer::NamedBeforeItStarted:
      return no("its number was listed before it started, and may have meant another process then");
    case Shares::Answer::OtherNumbers:
      return no("the two are in different pid namespaces, where numbers mean other processes");
  }
  return done();
}

// The processes of a list that can be named: 0 stands for none, and numbers that no process can have name
// nobody. Empty: nothing is left.
std::optional<std::vector<std::int32_t>> named_in(const std::int32_t* pids, std::size_t count,
                                                  std::int32_t not_this = 0) {
  std::vector<std::int32_t> named;
  named.reserve(count);
  bool any = false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t pid = read_once(pids[i]);
    if (pid == 0 || pid == not_this) continue;
    any = true;
    if (pid > 0 && pid <= kHighestPid) named.push_back(pid);
  }
  return any ? std::optional{std::move(named)} : std::nullopt;
}

Refusal over_limit(const char* rule, const std::string& what, std::size_t most) {
  return refuse({ACL_ERROR_RT_OVER_LIMIT, rule, "EL0003",
                 fmt::format("the list of {} is full: it may name {} processes in all", what, most), "",
                 "export with flag 1 if that many processes are to import it"});
}

// --- peers ----------------------------------------------------------------------------------------

// Both ways between the current device and that of the exporter, if this process sees it (V-251, V-417).
void enable_peers(Process& process, std::uint32_t current, const SharedWords& words, bool enable,
                  const char* rule) {
  if (words.side == Side::Host) return;
  const std::vector<std::uint32_t>& visible = process.settings().memory.visible;
  const auto found = std::find(visible.begin(), visible.end(), words.device);
  if (found == visible.end()) return;
  const auto theirs = static_cast<std::uint32_t>(found - visible.begin());
  Peers& peers = process.memory().peers();
  if (theirs == current || peers.enabled(current, theirs)) return;
  observe::note(rule, [&] {
    return fmt::format(
        "memory of device {} is imported with device {} current, and peer access between the "
        "two was not enabled: aclrtDeviceEnablePeerAccess is documented to come first",
        theirs, current);
  });
  if (!enable || !has(process.product().product, Feature::PeerAccess)) return;
  peers.enable(current, theirs);
  peers.enable(theirs, current);
}

// --- handles --------------------------------------------------------------------------------------

Result<Secret> share_handle(Process& process, aclrtDrvMemHandle handle, ShareKind kind, std::uint64_t flags) {
  return process.memory().virtual_memory().share(reinterpret_cast<std::uint64_t>(handle), kind,
                                                 flags == ACL_RT_VMM_EXPORT_FLAG_DEFAULT);
}

Status allow(Process& process, const Value& value, const std::int32_t* pids, std::size_t count) {
  if (count > kMostPidsOfHandle) {
    return rejected("V-234", "pidNum", count,
                    fmt::format("a call takes at most {} processes", kMostPidsOfHandle), "use several calls");
  }
  Shares& shares = shares_of(process);
  const std::string what = fmt::format("the share value {}", value.shown());
  const std::optional<Share> share = shares.find(value.kind, value.secret);
  if (!share) return share_is_unknown("V-235", "no memory of this emulated machine has it");
  if (!shares.is_mine(*share)) {
    return driver_refuses(
        "V-236",
        fmt::format("process {} exported {}, and only it decides who may import", share->process, what),
        "call this in the exporting process");
  }
  if (!share->checking) {
    return no_permission("V-237",
                         fmt::format("{} was exported without checks: everybody may import it", what),
                         "leave the call out, or export with flag 0");
  }
  const std::optional<std::vector<std::int32_t>> named = named_in(pids, count);
  if (!named) {
    return driver_refuses("V-238", fmt::format("all {} entries are 0", count),
                          "pass what aclrtDeviceGetBareTgid returns in the importing process");
  }
  if (shares.allow(share->id, *named, machine::kPermissions)) return done();
  return over_limit("V-239", what, machine::kPermissions);
}

Status import_value(Process& process, const Value& value, std::uint32_t device, std::uint32_t current,
                    aclrtDrvMemHandle* out) {
  const std::optional<Share> share = shares_of(process).find(value.kind, value.secret);
  if (!share)
    return share_is_unknown("V-245", "it was never exported on this emulated machine, or its memory is gone");
  if (Status may = may_import(process, *share, "V-247", fmt::format("the share value {}", value.shown()),
                              "aclrtMemSetPidToShareableHandle");
      !may)
    return may;
  enable_peers(process, current, SharedWords::unpack(share->words, share->kind), true, "V-251");
  ASSIGN_OR_RETURN(const std::uint64_t handle,
                   process.memory().virtual_memory().import(*share, device, new_handle()));
  *out = reinterpret_cast<aclrtDrvMemHandle>(handle);
  return done();
}

}  // namespace

Status export_handle(Process& process, aclrtDrvMemHandle handle, aclrtMemHandleType type, std::uint64_t flags,
                     std::uint64_t* out) {
  if (handle == nullptr) return null_pointer("V-215", "handle");
  if (type != ACL_MEM_HANDLE_TYPE_NONE)
    return bad_value("V-216", "handleType", static_cast<int>(type), "ACL_MEM_HANDLE_TYPE_NONE");
  if (out == nullptr) return null_pointer("V-217", "shareableHandle");
  if (Status here = needs_handles(process); !here) return here;
  if (flags > ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION)
    return rejected("V-218", "flags", flags, "there is no such flag",
                    "pass 0, or 1 for no list of processes");
  ASSIGN_OR_RETURN(const Secret secret, share_handle(process, handle, ShareKind::Handle, flags));
  *out = secret[0];
  return done();
}

Status export_handle(Process& process, aclrtDrvMemHandle handle, std::uint64_t flags,
                     aclrtMemSharedHandleType type, void* out) {
  if (handle == nullptr) return null_pointer("V-258", "handle");
  if (out == nullptr) return null_pointer("V-258", "shareableHandle");
  if (Status here = needs_handles(process); !here) return here;
  if (!is_share_type(type)) return bad_share_type("V-258", type);
  if (flags > ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION)
    return rejected("V-258", "flags", flags, "there is no such flag",
                    "pass 0, or 1 for no list of processes");
  if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT) {
    ASSIGN_OR_RETURN(const Secret secret, share_handle(process, handle, ShareKind::Handle, flags));
    std::memcpy(out, secret.data(), sizeof secret[0]);
    return done();
  }
  if (Status ready = needs_context(process, "V-259", Feature::FabricHandles); !ready) return ready;
  ASSIGN_OR_RETURN(const Secret secret, share_handle(process, handle, ShareKind::Fabric, flags));
  const FabricBlob blob = fabric_blob(secret);
  std::memcpy(out, &blob, sizeof blob);
  return done();
}

Status allow_handle(Process& process, std::uint64_t value, const std::int32_t* pids, std::size_t count) {
  if (pids == nullptr) return null_pointer("V-232", "pid");
  if (count == 0) return bad_value("V-233", "pidNum", count, "at least 1");
  if (Status here = needs_handles(process); !here) return here;
  return allow(process, default_value(value), pids, count);
}

Status allow_handle(Process& process, const void* value, aclrtMemSharedHandleType type,
                    const std::int32_t* pids, std::size_t count) {
  if (value == nullptr) return null_pointer("V-260", "shareableHandle");
  if (pids == nullptr) return null_pointer("V-260", "pid");
  if (count == 0) return bad_value("V-260", "pidNum", count, "at least 1");
  if (Status here = needs_handles(process); !here) return here;
  if (!is_share_type(type)) return bad_share_type("V-260", type);
  ASSIGN_OR_RETURN(const Value taken, value_in(value, type));
  return allow(process, taken, pids, count);
}

Status import_handle(Process& process, std::uint64_t value, std::int32_t device, aclrtDrvMemHandle* out) {
  if (out == nullptr) return null_pointer("V-243", "handle");
  if (Status here = needs_handles(process); !here) return here;
  if (!process.has_device(device)) return bad_device("V-244", device, process.device_count());
  const Value taken = default_value(value);
  if (!shares_of(process).find(taken.kind, taken.secret))
    return share_is_unknown("V-245", "it was never exported on this emulated machine, or its memory is gone");
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "V-246"));
  return import_value(process, taken, static_cast<std::uint32_t>(device), context->device, out);
}

Status import_handle(Process& process, const void* value, aclrtMemSharedHandleType type, std::uint64_t flags,
                     aclrtDrvMemHandle* out) {
  if (value == nullptr) return null_pointer("V-261", "shareableHandle");
  if (out == nullptr) return null_pointer("V-261", "handle");
  if (flags != 0) return bad_value("V-261", "flags", flags, "0");
  if (process.current() == nullptr) return no_context("V-261");
  if (Status here = needs_handles(process); !here) return here;
  if (!is_share_type(type)) return bad_share_type("V-261", type);
  if (type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC) {
    if (Status there = needs_feature(process, Feature::FabricHandles, "V-262"); !there) return there;
  }
  ASSIGN_OR_RETURN(const Value taken, value_in(value, type));
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "V-261"));
  return import_value(process, taken, context->device, context->device, out);
}

// --- keys -----------------------------------------------------------------------------------------

namespace {

std::string key_in_words(std::string_view key) { return fmt::format("the IPC key {}", shown(key)); }

std::string_view text_in(const char* key) { return {key, ::strnlen(key, kKeyBytes)}; }

std::optional<Share> find_key(Process& process, std::string_view text) {
  const std::optional<Secret> secret = secret_in(text);
  return secret ? shares_of(process).find(ShareKind::Key, *secret) : std::nullopt;
}

// Those that only 207000 is known of, in the order of V-23.
Status needs_keys(Process& process, const char* rule) {
  return has(process.product().product, Feature::IpcKeys) ? done()
                                                          : needs_context(process, rule, Feature::IpcKeys);
}

Status allow_key_of(Process& process, std::string_view key, const std::int32_t* pids, std::size_t count) {
  const bool newer = has(process.product().product, Feature::NewerDriver);
  const std::size_t most = newer ? kMostOfKeyNewer : kMostOfKey;
  if (const std::size_t at_once = newer ? kMostOfKeyNewer : kMostPidsOfKey; count == 0 || count > at_once) {
    return rejected("V-399", "num", count, fmt::format("a call takes 1 to {} processes", at_once),
                    "use several calls; they add up");
  }
  Shares& shares = shares_of(process);
  const std::optional<Share> share = find_key(process, key);
  if (!share || !shares.is_mine(*share)) {
    return driver_refuses(
        "V-400",
        share ? fmt::format("process {} exported {}, and only it decides who may import", share->process,
                            key_in_words(key))
              : fmt::format("{} is not known: it was closed, or never exported", key_in_words(key)),
        "call this in the exporting process, before the key is closed");
  }
  if (!share->checking) {
    return no_permission(
        "V-401", fmt::format("{} was exported without checks: everybody may import it", key_in_words(key)),
        "leave the call out, or export with flag 0");
  }
  const std::optional<std::vector<std::int32_t>> named = named_in(pids, count, platform::process_id());
  if (!named) {
    return driver_refuses("V-402",
                          fmt::format("none of the {} is another process: 0 and the own number do not count",
                                      counted(count, "entry", "entries")),
                          "pass what aclrtDeviceGetBareTgid returns in the importing process");
  }
  if (shares.allow(share->id, *named, most)) return done();
  return over_limit("V-399", key_in_words(key), most);
}

}  // namespace

Status export_key(Process& process, const KeyArguments& wish) {
  if (wish.start == nullptr) return null_pointer("V-382", "devPtr");
  if (wish.key == nullptr) return null_pointer("V-382", "key");
  if (Status here = needs_keys(process, "V-384"); !here) return here;
  if (wish.size == 0)
    return rejected("V-383", "size", wish.size, "there is nothing to export", "pass its size");
  if (wish.room == 0) return rejected("V-383", "len", wish.room, "there is no room for the key", "pass 65");
  if (wish.flags > ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION)
    return rejected("V-383", "flags", wish.flags, "there is no such flag",
                    "pass 0, or 1 for no list of processes");
  if (Status ready = needs_context(process, "V-384", Feature::IpcKeys); !ready) return ready;
  if (wish.room < kKeyBytes)
    return rejected("V-385", "len", wish.room, fmt::format("a key takes {} bytes with its NUL", kKeyBytes),
                    "pass a buffer of 65 bytes");
  ASSIGN_OR_RETURN(const Secret secret,
                   process.memory().keys().open(reinterpret_cast<std::uintptr_t>(wish.start), wish.size,
                                                wish.flags == ACL_RT_IPC_MEM_EXPORT_FLAG_DEFAULT));
  std::memcpy(wish.key, text_of(secret).c_str(), kKeyBytes);
  return done();
}

Status allow_key(Process& process, const char* key, const std::int32_t* pids, std::size_t count) {
  if (key == nullptr) return null_pointer("V-398", "key");
  if (pids == nullptr) return null_pointer("V-398", "pid");
  if (Status here = needs_feature(process, Feature::IpcKeys, "V-390"); !here) return here;
  return allow_key_of(process, text_in(key), pids, count);
}

Status allow_key_on_servers(Process& process, const char* key, const aclrtServerPid* servers,
                            std::size_t count) {
  const auto missing = [](const char* parameter) {
    return rejected("V-405", parameter, "NULL", "there is nothing there", "pass a key and at least one list");
  };
  if (key == nullptr) return missing("key");
  if (servers == nullptr) return missing("serverPids");
  if (count == 0) return rejected("V-405", "num", count, "the list is empty", "pass at least one entry");
  for (std::size_t i = 0; i < count; ++i) {
    if (read_once(servers[i].pid) == nullptr) return missing("serverPids->pid");
  }
  if (Status here = needs_feature(process, Feature::KeyLinks, "V-406"); !here) return here;
  ASSIGN_OR_RETURN(const std::int64_t here, device_attribute(process, ACL_DEV_ATTR_SUPER_POD_DEVICE_ID));
  for (std::size_t i = 0; i < count; ++i) {
    const aclrtServerPid one{read_once(servers[i].sdid), read_once(servers[i].pid),
                             read_once(servers[i].num)};
    if (one.sdid != static_cast<std::uint64_t>(here)) {
      return rejected("V-408", "serverPids->sdid", one.sdid, "no emulated device has that number",
                      "pass what aclrtGetDeviceInfo returns for ACL_DEV_ATTR_SUPER_POD_DEVICE_ID");
    }
    if (Status allowed = allow_key_of(process, text_in(key), one.pid, one.num); !allowed) return allowed;
  }
  return done();
}

Status import_key(Process& process, void** out, const char* key, std::uint64_t flags) {
  if (out == nullptr) return null_pointer("V-409", "devPtr");
  if (key == nullptr) return null_pointer("V-409", "key");
  if (Status here = needs_keys(process, "V-411"); !here) return here;
  if (flags > ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS)
    return rejected("V-410", "flags", flags, "there is no such flag", "pass 0, or 1 to enable peer access");
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "V-411"));
  const std::string text{text_in(key)};
  if (text.empty() || text.size() >= kKeyBytes) {
    return rejected(
        "V-412", "key", text.empty() ? std::string{"\"\""} : fmt::format("\"{}\"", shown(text)),
        text.empty() ? std::string{"it is empty"} : fmt::format("it has {} characters or more", kKeyBytes),
        "pass the 64 characters and the NUL that aclrtIpcMemGetExportKey stored");
  }
  const std::optional<Share> share = find_key(process, text);
  if (!share) {
    return driver_refuses(
        "V-413",
        fmt::format("{} is not known on this emulated machine: it was closed, its memory was freed, its "
                    "process ended, or it is no key",
                    key_in_words(text)),
        "pass a key of a process on the same machine (BELAY_MACHINE) whole, while that has not closed it");
  }
  if (Status may = may_import(process, *share, "V-414", key_in_words(text), "aclrtIpcMemSetImportPid"); !may)
    return may;
  enable_peers(process, context->device, SharedWords::unpack(share->words, share->kind), flags != 0, "V-417");
  ASSIGN_OR_RETURN(const std::uintptr_t start,
                   process.memory().keys().import(*secret_in(text), *share, context->device));
  *out = reinterpret_cast<void*>(start);
  return done();
}

Status set_key_attribute(Process& process, const char* key, aclrtIpcMemAttrType type, std::uint64_t value) {
  if (key == nullptr) return rejected("V-422", "key", "NULL", "there is nothing there", "pass a key");
  if (type != ACL_RT_IPC_MEM_ATTR_ACCESS_LINK)
    return rejected("V-422", "type", static_cast<int>(type), "there is no such attribute",
                    "pass ACL_RT_IPC_MEM_ATTR_ACCESS_LINK");
  if (value > ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_UB_MULTI_PORT_PATH)
    return rejected("V-422", "attr", value, "there is no such link", "pass a link of 0 to 3");
  if (Status here = needs_feature(process, Feature::KeyLinks, "V-423"); !here) return here;
  if (value > ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS) {
    return refuse({ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED, "V-425", "EE1016",
                   fmt::format("{} has no unified bus (link {})", process.product().family, value), "",
                   "pass ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_SIO or ACL_RT_IPC_MEM_ATTR_ACCESS_LINK_HCCS"});
  }
  const std::string_view text = text_in(key);
  const std::optional<Share> share = find_key(process, text);
  if (share && !shares_of(process).is_mine(*share)) {
    return no_permission("V-424", fmt::format("{} belongs to process {}", key_in_words(text), share->process),
                         "call this in the exporting process");
  }
  process.memory().keys().note_attribute(text);
  return done();
}

Status close_key(Process& process, const char* key) {
  if (key == nullptr) return null_pointer("V-428", "key");
  if (Status here = needs_feature(process, Feature::IpcKeys, "V-390"); !here) return here;
  return process.memory().keys().close(text_in(key));
}

}  // namespace belay
