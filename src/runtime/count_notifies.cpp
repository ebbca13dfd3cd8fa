#include "runtime/count_notifies.h"

#include <utility>

#include "base/read_once.h"
#include "runtime/stream_calls.h"
#include "runtime/telling.h"

namespace belay {
namespace {

using schedule::AwaitCountTask;

Status needs_counts(Process& process, const char* rule) {
  return needs_feature_after_context(process, rule, Feature::CountNotifies);
}

Result<CountNotifyRef> known_count(Process& process, aclrtCntNotify notify) {
  if (notify == nullptr)
    return rejected("R-278", "cntNotify", "NULL", "there is no count notify", "pass a count notify");
  CountNotifyRef found = process.events().counts.find(handle_of(notify));
  if (found == nullptr) return stale_handle("R-278", "count notify", handle_of(notify));
  return found;
}

bool is_record_mode(std::uint32_t mode) {
  return mode <= ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE || mode == ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE;
}

Status change_count(Process& process, const CountNotify& notify, aclrtStream stream, std::uint32_t mode,
                    std::uint32_t value) {
  ASSIGN_OR_RETURN(const StreamRef own, own_stream(process, stream, "R-278"));
  return submit(process, *own, std::make_unique<schedule::ChangeCountTask>(notify.state, mode, value));
}

}  // namespace

Status create_count(Process& process, aclrtCntNotify* out, std::uint64_t flag) {
  if (Status missing = needs_counts(process, "R-277"); !missing) return missing;
  if (flag != 0) return rejected("R-277", "flag", flag, "no such flag", "pass 0");
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "R-277"));
  if (out == nullptr)
    return rejected("R-277", "cntNotify", "NULL", "there is nowhere to store the handle",
                    "pass a valid pointer");
  Events& events = process.events();
  const std::optional<std::uint32_t> number = events.count_numbers[context->device].take();
  if (!number) {
    return refuse(
        {ACL_ERROR_RT_NO_NOTIFY_RESOURCE, "R-277", "EL0010",
         fmt::format("all {} count notifies of device {} are in use", events.notify_limit, context->device),
         "", "destroy count notifies that are not needed any more"});
  }
  const Handle handle = new_handle();
  auto notify = std::make_shared<CountNotify>(CountNotify{handle, context->device, *number});
  notify->state->notify = handle;
  events.counts.add(handle, std::move(notify));
  tell_object(observe::What::Created, observe::Object::CountNotify, handle, context->device);
  *out = reinterpret_cast<aclrtCntNotify>(handle);
  return done();
}

Status destroy_count(Process& process, aclrtCntNotify handle) {
  if (Status missing = needs_counts(process, "R-278"); !missing) return missing;
  if (Result<CountNotifyRef> known = known_count(process, handle); !known) return known.take_refusal();
  if (process.current() == nullptr) return no_context("R-278");
  const CountNotifyRef notify = process.events().counts.take(handle_of(handle));
  if (notify == nullptr) return stale_handle("R-278", "count notify", handle_of(handle));
  process.events().count_numbers[notify->device].give(notify->number);
  tell_object(observe::What::Destroyed, observe::Object::CountNotify, notify->handle, notify->device);
  return done();
}

Status record_count(Process& process, aclrtCntNotify handle, aclrtStream stream,
                    const aclrtCntNotifyRecordInfo* info) {
  if (info == nullptr) return null_pointer("R-278", "info");
  if (Status missing = needs_counts(process, "R-278"); !missing) return missing;
  ASSIGN_OR_RETURN(const CountNotifyRef notify, known_count(process, handle));
  const auto mode = static_cast<std::uint32_t>(read_once(info->mode));
  if (!is_record_mode(mode))
    return rejected("R-279", "info->mode", mode, "no such mode", "pass 0, 1, 2 or 4");
  return change_count(process, *notify, stream, mode, read_once(info->value));
}

Status wait_count(Process& process, aclrtCntNotify handle, aclrtStream stream,
                  const aclrtCntNotifyWaitInfo* info) {
  if (info == nullptr) return null_pointer("R-278", "info");
  if (Status missing = needs_counts(process, "R-278"); !missing) return missing;
  ASSIGN_OR_RETURN(const CountNotifyRef notify, known_count(process, handle));
  const auto mode = static_cast<std::uint32_t>(read_once(info->mode));
  if (mode > ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE)
    return rejected("R-280", "info->mode", mode, "no such mode", "pass 0 to 4");
  const auto then = read_once(info->isClear) != 0 ? AwaitCountTask::Then::Clear : AwaitCountTask::Then::Leave;
  ASSIGN_OR_RETURN(const StreamRef own, own_stream(process, stream, "R-278"));
  return submit(process, *own,
                std::make_unique<AwaitCountTask>(notify->state, mode, read_once(info->value),
                                                 read_once(info->timeout), then));
}

Status reset_count(Process& process, aclrtCntNotify handle, aclrtStream stream) {
  if (Status missing = needs_counts(process, "R-278"); !missing) return missing;
  ASSIGN_OR_RETURN(const CountNotifyRef notify, known_count(process, handle));
  return change_count(process, *notify, stream, ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 0);
}

Status count_number(Process& process, aclrtCntNotify handle, std::uint32_t* number) {
  if (Status missing = needs_counts(process, "R-278"); !missing) return missing;
  ASSIGN_OR_RETURN(const CountNotifyRef notify, known_count(process, handle));
  if (number == nullptr)
    return rejected("R-278", "notifyId", "NULL", "there is nowhere to store the number",
                    "pass a valid pointer");
  if (process.current() == nullptr) return no_context("R-278");
  *number = notify->number;
  return done();
}

}  // namespace belay
