// Streams: the documented checks of every call in their documented order.
#pragma once

#include <cstdint>
#include <memory>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/memory_tasks.h"
#include "runtime/process.h"

namespace belay {

// A stream that was passed in: null for NULL; 107017 where it is no live stream.
Result<StreamRef> known_stream(Process& process, aclrtStream stream, const char* rule);
Status told(const std::shared_ptr<const Error>& error);  // null: none
Refusal stale_handle(const char* rule, const char* kind, Handle handle);
// The one that is meant, NULL being the default stream of the current context; 107002 without a
// context.
Result<StreamRef> meant_stream(Process& process, aclrtStream stream, const char* rule);
// ... and it must be of the current context, as for everything that queues work: 107003.
Result<StreamRef> own_stream(Process& process, const StreamRef& known, const char* no_context_rule,
                             const char* other_context_rule);
Result<StreamRef> own_stream(Process& process, aclrtStream stream, const char* rule);

// Where the product lacks a function that needs a context: 107002, then 207000, before anything else (M-418).
Status needs_feature_after_context(Process& process, const char* rule, Feature feature);

Status submit(Process& process, Stream& stream, TaskPtr task, std::uint64_t* position = nullptr);
// The same, and waits until it is done; what went wrong on the stream so far is answered (M-265).
Status submit_and_wait(Process& process, Stream& stream, TaskPtr task);
Workplace workplace(Process& process, const Stream& stream);

Status create_stream(Process& process, aclrtStream* out, std::uint32_t priority, std::uint32_t flags);
Status destroy_stream(Process& process, aclrtStream stream, bool force);

// Timeouts in milliseconds; -1: for ever.
Status synchronize_stream(Process& process, aclrtStream stream, std::int32_t timeout, const char* rule);
Status synchronize_device(Process& process, std::int32_t timeout, const char* rule);
Status check_timeout(const char* rule, std::int32_t milliseconds);
schedule::Deadline deadline_in(std::int32_t milliseconds);
Status arrived(schedule::Scheduler& scheduler, Stream& stream, std::uint64_t position,
               schedule::Arrival arrival, const char* rule, std::int32_t timeout, schedule::Lock& lock);
Status query_stream(Process& process, aclrtStream stream, aclrtStreamStatus* status);

Status set_attribute(Process& process, aclrtStream stream, aclrtStreamAttr attribute,
                     const aclrtStreamAttrValue& value);
Status get_attribute(Process& process, aclrtStream stream, aclrtStreamAttr attribute,
                     aclrtStreamAttrValue& value);

Status abort_stream(Process& process, aclrtStream stream);
Status stop_stream(Process& process, aclrtStream stream);
Status abort_device(Process& process, std::int32_t device, std::uint32_t timeout);

}  // namespace belay
