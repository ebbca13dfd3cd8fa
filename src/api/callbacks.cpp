// Functions of the program that streams call, and the limits of operators.
#include <pthread.h>

#include "acl/acl.h"
#include "api/door.h"
#include "runtime/stream_calls.h"

using namespace belay;

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return enter("aclrtSubscribeReport", [&](Process& p) -> Status {
    ASSIGN_OR_RETURN(const StreamRef found, own_stream(p, stream, "R-190"));
    return p.subscriptions().add(p.scheduler(), threadId, *found);
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return enter("aclrtUnSubscribeReport", [&](Process& p) -> Status {
    ASSIGN_OR_RETURN(const StreamRef found, own_stream(p, stream, "R-191"));
    return p.subscriptions().remove(p.scheduler(), threadId, *found);
  });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return enter("aclrtLaunchCallback", [&](Process& p) -> Status {
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK)
      return bad_value("R-192", "blockType", static_cast<int>(blockType), "0 or 1");
    if (fn == nullptr) return rejected("R-192", "fn", "NULL", "there is nothing to call", "pass a function");
    ASSIGN_OR_RETURN(const StreamRef own, own_stream(p, stream, "R-192"));
    uint64_t subscription = 0;
    {
      const schedule::Lock lock = p.scheduler().lock();
      if (own->uses_host_functions) {
        return refuse({ACL_ERROR_RT_STREAM_SUBSCRIBE, "R-192", "EE1006",
                       fmt::format("stream {} was used with aclrtLaunchHostFunc", own->id), "",
                       "use one of the two ways on a stream, not both"});
      }
      if (own->subscriber == nullptr) {
        return refuse({ACL_ERROR_RT_STREAM_NO_CB_REG, "R-192", "EE1018",
                       fmt::format("no thread is subscribed to stream {}", own->id), "",
                       "call aclrtSubscribeReport for the stream first"});
      }
      subscription = own->subscriptions;
    }
    const bool blocks = blockType == ACL_CALLBACK_BLOCK;
    return submit(p, *own, std::make_unique<schedule::CallbackTask>(fn, userData, blocks, subscription));
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return enter("aclrtProcessReport", [&](Process& p) -> Status {
    if (timeout == 0 || timeout < -1)
      return bad_value("R-194", "timeout", timeout, "-1 or a positive number of milliseconds");
    return p.subscriptions().process(p.scheduler(), platform::this_thread(), deadline_in(timeout));
  });
}

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  return enter("aclrtLaunchHostFunc", [&](Process& p) -> Status {
    if (Status here = needs_feature_after_context(p, "R-198", Feature::AllButIpv); !here) return here;
    if (fn == nullptr) return rejected("R-198", "fn", "NULL", "there is nothing to call", "pass a function");
    ASSIGN_OR_RETURN(const StreamRef own, own_stream(p, stream, "R-198"));
    {
      const schedule::Lock lock = p.scheduler().lock();
      if (own->subscriber != nullptr) {
        return refuse({ACL_ERROR_RT_STREAM_SUBSCRIBE, "R-198", "EE1006",
                       fmt::format("a thread is subscribed to stream {}", own->id), "",
                       "use one of the two ways on a stream, not both"});
      }
      own->uses_host_functions = true;
    }
    return submit(p, *own, std::make_unique<schedule::HostFunctionTask>(fn, args));
  });
}

aclError aclrtGetThreadLastTaskId(uint32_t* taskId) {
  return enter("aclrtGetThreadLastTaskId", [&](Process& p) -> Status {
    if (taskId == nullptr) return null_pointer("R-203", "taskId");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    return give(taskId, p.scheduler().last_task_of_this_thread());
  });
}

// --- of another build of the vendor's: not emulated (R-205) ------------------------------------------

namespace {

aclError of_another_build(const char* api) {
  return enter(api, [](Process&) -> Status {
    return unsupported("R-205", "this function belongs to another build of the runtime",
                       "use aclrtLaunchHostFunc");
  });
}

}  // namespace

aclError aclrtSubscribeHostFunc(uint64_t, aclrtStream) { return of_another_build("aclrtSubscribeHostFunc"); }
aclError aclrtProcessHostFunc(int32_t) { return of_another_build("aclrtProcessHostFunc"); }
aclError aclrtUnSubscribeHostFunc(uint64_t, aclrtStream) {
  return of_another_build("aclrtUnSubscribeHostFunc");
}

// --- how long operators may run: kept and given back, without effect (R-204) -------------------------

namespace {

constexpr uint64_t kIntervalUs = 1'000;
constexpr uint64_t kMostIntervals = 254;

}  // namespace

aclError aclrtGetOpTimeOutInterval(uint64_t* interval) {
  return enter("aclrtGetOpTimeOutInterval", [&](Process& p) -> Status {
    if (interval == nullptr) return null_pointer("R-204", "interval");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    return give(interval, kIntervalUs);
  });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return enter("aclrtSetOpExecuteTimeOut", [&](Process& p) -> Status {
    p.operator_timeout_us.store(uint64_t{timeout} * 1'000'000);
    return done();
  });
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
  return enter("aclrtSetOpExecuteTimeOutWithMs", [&](Process&) -> Status {
    return unsupported("R-204", fmt::format("no product has this function (timeout {} ms)", timeout),
                       "call aclrtSetOpExecuteTimeOut or aclrtSetOpExecuteTimeOutV2");
  });
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  return enter("aclrtSetOpExecuteTimeOutV2", [&](Process& p) -> Status {
    if (actualTimeout == nullptr) return null_pointer("R-204", "actualTimeout");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    const uint64_t intervals = timeout / kIntervalUs + (timeout % kIntervalUs != 0 ? 1 : 0);
    const uint64_t actual = std::min(intervals, kMostIntervals) * kIntervalUs;
    p.operator_timeout_us.store(actual);
    return give(actualTimeout, actual);
  });
}

aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs) {
  return enter("aclrtGetOpExecuteTimeout", [&](Process& p) -> Status {
    if (timeoutMs == nullptr) return null_pointer("R-204", "timeoutMs");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    return give(timeoutMs,
                static_cast<uint32_t>(std::min<uint64_t>(p.operator_timeout_us.load() / 1'000, UINT32_MAX)));
  });
}
