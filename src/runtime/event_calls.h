// Events and notifies: the documented checks of every call in their documented order.
#pragma once

#include <cstdint>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/process.h"

namespace belay {

Status create_event(Process& process, aclrtEvent* out, Event::Kind kind, std::uint32_t flags);
Status destroy_event(Process& process, aclrtEvent event);

Status record_event(Process& process, aclrtEvent event, aclrtStream stream);
Status record_event_with_flag(Process& process, aclrtEvent event, aclrtStream stream, std::uint32_t flag);
Status reset_event(Process& process, aclrtEvent event, aclrtStream stream);

// `seconds`: 0 for ever.
Status wait_event(Process& process, aclrtStream stream, aclrtEvent event, std::uint32_t seconds);
Status wait_event_with_flag(Process& process, aclrtStream stream, aclrtEvent event, std::uint32_t seconds,
                            std::uint32_t flag);

Result<bool> event_is_complete(Process& process, aclrtEvent event);  // of the latest record
Result<bool> event_query(Process& process, aclrtEvent event);
Result<bool> event_waits_are_over(Process& process, aclrtEvent event);
Status synchronize_event(Process& process, aclrtEvent event, std::int32_t timeout, const char* rule);

Status synchronize_record(Process& process, const std::shared_ptr<schedule::EventRecord>& record,
                          std::int32_t timeout, const char* rule, schedule::Lock& lock);
Refusal event_came_late(const char* rule, std::int32_t timeout);
// Lets a record move on that is asked for; what is known by having seen that it is complete.
void let_move(Process& process, const schedule::EventRecord* record, schedule::Lock& lock);
bool seen_complete(const schedule::EventRecord& record);

Result<float> elapsed_ms(Process& process, aclrtEvent start, aclrtEvent end);
Result<std::uint64_t> event_time_us(Process& process, aclrtEvent event);
Result<std::uint32_t> event_number(Process& process, aclrtEvent event);
Result<EventRef> known_event(Process& process, aclrtEvent event, const char* rule);

Status create_notify(Process& process, aclrtNotify* out, std::uint64_t flags);
Status destroy_notify(Process& process, aclrtNotify notify);
Status record_notify(Process& process, aclrtNotify notify, aclrtStream stream);
Status wait_notify(Process& process, aclrtNotify notify, aclrtStream stream, std::uint32_t seconds);
Status notify_number(Process& process, aclrtNotify notify, std::uint32_t* number);
Result<NotifyRef> known_notify(Process& process, aclrtNotify notify, const char* rule);
Status reset_notifies(Process& process, aclrtNotify* notifies, std::size_t count);

}  // namespace belay
