// Events and notifies of several processes: what their calls do beyond those of one process.
#pragma once

#include <cstdint>
#include <memory>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/process.h"

namespace belay {

// The parts of calls in event_calls.cpp that differ for events with ACL_EVENT_IPC.
Status create_shared_event(Process& process, aclrtEvent* out, std::uint32_t device);
void end_shared_event(Process& process, Event& event);
Status record_shared_event(Process& process, Event& event, aclrtEvent handle, const StreamRef& stream,
                           const schedule::RecordTask::Left& give_back);
Status wait_shared_event(Process& process, Stream& stream, const EventRef& event, std::uint32_t seconds);
Result<bool> shared_event_is_complete(Process& process, Event& event);
bool shared_event_is_recorded(Process& process, Event& event);
Status synchronize_shared_event(Process& process, Event& event, std::int32_t timeout, const char* rule);

Status give_event_away(Process& process, aclrtEvent event, aclrtIpcEventHandle* handle);
Status open_event(Process& process, const aclrtIpcEventHandle& handle, aclrtEvent* event);

// ... and for notifies, which are of several processes when their key is given away, or imported.
void end_shared_notify(Process& process, Notify& notify);
void demanded_elsewhere(Process& process, const Notify& notify);  // a record of it was queued
Status room_to_wait(Process& process, const Notify& notify);

Status export_notify(Process& process, aclrtNotify notify, char* key, std::size_t length,
                     std::uint64_t flags);
Status import_notify(Process& process, aclrtNotify* notify, const char* key, std::uint64_t flags);
Status allow_notify(Process& process, aclrtNotify notify, const std::int32_t* processes, std::size_t count);
Status allow_notify_on_servers(Process& process, aclrtNotify notify, const aclrtServerPid* servers,
                               std::size_t count);

}  // namespace belay
