// Streams: create, destroy, wait, ask, set, take work back.
#include "acl/acl.h"
#include "api/door.h"
#include "runtime/stream_calls.h"

using namespace belay;

aclError aclrtCreateStream(aclrtStream* stream) {
  return enter("aclrtCreateStream", [&](Process& p) { return create_stream(p, stream, 0, 0); });
}

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return enter("aclrtCreateStreamWithConfig",
               [&](Process& p) { return create_stream(p, stream, priority, flag); });
}

aclError aclrtDestroyStream(aclrtStream stream) {
  return enter("aclrtDestroyStream", [&](Process& p) { return destroy_stream(p, stream, false); });
}

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return enter("aclrtDestroyStreamForce", [&](Process& p) { return destroy_stream(p, stream, true); });
}

// --- waiting and asking ---------------------------------------------------------------------------

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return enter("aclrtSynchronizeStream",
               [&](Process& p) { return synchronize_stream(p, stream, -1, "R-139"); });
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  return enter("aclrtSynchronizeStreamWithTimeout", [&](Process& p) -> Status {
    if (Status fits = check_timeout("R-141", timeout); !fits) return fits;
    if (Status here = needs_feature_after_context(p, "R-139", Feature::AllButIpv); !here) return here;
    return synchronize_stream(p, stream, timeout, "R-141");
  });
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  return enter("aclrtStreamQuery", [&](Process& p) { return query_stream(p, stream, status); });
}

aclError aclrtSynchronizeDevice(void) {
  return enter("aclrtSynchronizeDevice", [&](Process& p) -> Status {
    if (Status here = needs_feature_after_context(p, "R-70", Feature::AllButIpv); !here) return here;
    return synchronize_device(p, -1, "R-70");
  });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return enter("aclrtSynchronizeDeviceWithTimeout", [&](Process& p) -> Status {
    if (Status fits = check_timeout("R-72", timeout); !fits) return fits;
    if (Status here = needs_feature_after_context(p, "R-72", Feature::AllButIpv); !here) return here;
    return synchronize_device(p, timeout, "R-72");
  });
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  return enter("aclrtStreamGetId", [&](Process& p) -> Status {
    if (streamId == nullptr) return null_pointer("R-146", "streamId");
    if (Status here = needs_feature_after_context(p, "R-146", Feature::AllButIpv); !here) return here;
    ASSIGN_OR_RETURN(const StreamRef found,
                     stream != nullptr ? known_stream(p, stream, "R-146") : meant_stream(p, stream, "R-146"));
    return give(streamId, found->id);
  });
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  return enter("aclrtStreamGetPriority", [&](Process& p) -> Status {
    if (priority == nullptr) return null_pointer("R-146", "priority");
    if (Status here = needs_feature_after_context(p, "R-147", Feature::AllButIpv); !here) return here;
    ASSIGN_OR_RETURN(const StreamRef found, meant_stream(p, stream, "R-147"));
    return give(priority, found->priority.load());
  });
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  return enter("aclrtStreamGetFlags", [&](Process& p) -> Status {
    if (flags == nullptr) return null_pointer("R-146", "flags");
    if (Status here = needs_feature_after_context(p, "R-147", Feature::AllButIpv); !here) return here;
    ASSIGN_OR_RETURN(const StreamRef found, meant_stream(p, stream, "R-147"));
    return give(flags, found->flags);
  });
}

aclError aclrtGetStreamAvailableNum(uint32_t* streamCount) {
  return enter("aclrtGetStreamAvailableNum", [&](Process& p) -> Status {
    if (streamCount == nullptr) return null_pointer("R-148", "streamCount");
    if (Status ready = needs_context(p, "R-148", Feature::AllButIpv); !ready) return ready;
    ASSIGN_OR_RETURN(const Context* context, current_context(p, "R-148"));
    return give(streamCount, p.streams().available(context->device));
  });
}

// --- attributes -----------------------------------------------------------------------------------

aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  return enter("aclrtSetStreamAttribute", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-149", "value");
    if (Status here = needs_feature_after_context(p, "R-149", Feature::AllButIpv); !here) return here;
    return set_attribute(p, stream, stmAttrType, *value);
  });
}

aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr stmAttrType,
                                 aclrtStreamAttrValue* value) {
  return enter("aclrtGetStreamAttribute", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-149", "value");
    if (Status here = needs_feature_after_context(p, "R-149", Feature::AllButIpv); !here) return here;
    return get_attribute(p, stream, stmAttrType, *value);
  });
}

aclError aclrtSetStreamFailureMode(aclrtStream stream, uint64_t mode) {
  return enter("aclrtSetStreamFailureMode", [&](Process& p) -> Status {
    if (Status here = needs_feature_after_context(p, "R-152", Feature::AllButIpv); !here) return here;
    aclrtStreamAttrValue value{};
    value.failureMode = mode;
    return set_attribute(p, stream, ACL_STREAM_ATTR_FAILURE_MODE, value);
  });
}

aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag) {
  return enter("aclrtSetStreamOverflowSwitch", [&](Process& p) -> Status {
    if (flag > 1) return bad_value("R-151", "flag", flag, "0 or 1");
    if (Status here = needs_feature_after_context(p, "R-151", Feature::StreamControl); !here) return here;
    aclrtStreamAttrValue value{};
    value.overflowSwitch = flag;
    return set_attribute(p, stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, value);
  });
}

aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag) {
  return enter("aclrtGetStreamOverflowSwitch", [&](Process& p) -> Status {
    if (flag == nullptr) return null_pointer("R-149", "flag");
    if (Status here = needs_feature_after_context(p, "R-151", Feature::StreamControl); !here) return here;
    aclrtStreamAttrValue value{};
    Status got = get_attribute(p, stream, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, value);
    if (got) *flag = value.overflowSwitch;
    return got;
  });
}

// --- overflow: nothing computes here, so there never is one ----------------------------------------

namespace {

constexpr size_t kStatusBytes = 64;

Status write_status(Process& p, void* to, aclrtStream stream, const char* rule) {
  ASSIGN_OR_RETURN(const StreamRef own, own_stream(p, stream, rule));
  return submit(p, *own, fill_task(workplace(p, *own), to, 0, kStatusBytes, 0));
}

aclError clear_status(const char* api, aclrtStream stream, const char* rule) {
  return enter(api, [&](Process& p) -> Status {
    if (Status here = needs_feature_after_context(p, rule, Feature::AllButIpv); !here) return here;
    ASSIGN_OR_RETURN(const StreamRef own, own_stream(p, stream, rule));
    return submit(p, *own, nothing_task());
  });
}

aclError float_status(const char* api, void* to, uint64_t bytes, aclrtStream stream) {
  return enter(api, [&](Process& p) -> Status {
    if (Status here = needs_feature_after_context(p, "R-275", Feature::AllButIpv); !here) return here;
    if (to == nullptr)
      return rejected("R-275", "outputAddr", "NULL", "there is nowhere to write the status",
                      "pass 64 bytes of device memory");
    if (bytes != kStatusBytes)
      return rejected("R-275", "outputSize", bytes, "a status has 64 bytes", "pass 64");
    return write_status(p, to, stream, "R-275");
  });
}

}  // namespace

aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
  return enter("aclrtGetOverflowStatus", [&](Process& p) -> Status {
    if (outputAddr == nullptr) return null_pointer("R-103", "outputAddr");
    if (outputSize != kStatusBytes) return bad_value("R-103", "outputSize", outputSize, "64");
    if (Status here = needs_feature_after_context(p, "R-103", Feature::AllButIpv); !here) return here;
    return write_status(p, outputAddr, stream, "R-103");
  });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
  return clear_status("aclrtResetOverflowStatus", stream, "R-103");
}

aclError aclrtGetFloatOverflowStatus(void* outputAddr, uint64_t outputSize, aclrtStream stream) {
  return float_status("aclrtGetFloatOverflowStatus", outputAddr, outputSize, stream);
}

aclError aclrtResetFloatOverflowStatus(aclrtStream stream) {
  return clear_status("aclrtResetFloatOverflowStatus", stream, "R-275");
}

aclError aclrtNpuGetFloatOverFlowStatus(void* outputAddr, uint64_t outputSize, uint32_t, aclrtStream stream) {
  return float_status("aclrtNpuGetFloatOverFlowStatus", outputAddr, outputSize, stream);
}

aclError aclrtNpuClearFloatOverFlowStatus(uint32_t, aclrtStream stream) {
  return clear_status("aclrtNpuClearFloatOverFlowStatus", stream, "R-275");
}

// --- taking work back -----------------------------------------------------------------------------

aclError aclrtStreamAbort(aclrtStream stream) {
  return enter("aclrtStreamAbort", [&](Process& p) { return abort_stream(p, stream); });
}

aclError aclrtStreamStop(aclrtStream stream) {
  return enter("aclrtStreamStop", [&](Process& p) { return stop_stream(p, stream); });
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
  return enter("aclrtDeviceTaskAbort", [&](Process& p) { return abort_device(p, deviceId, timeout); });
}

aclError aclrtSetDeviceTaskAbortCallback(const char* regName, aclrtDeviceTaskAbortCallback callback,
                                         void* args) {
  return enter("aclrtSetDeviceTaskAbortCallback", [&](Process& p) -> Status {
    if (regName == nullptr) return null_pointer("R-230", "regName");
    if (Status here = needs_feature(p, Feature::StreamControl, "R-266"); !here) return here;
    return p.state_callbacks().task_abort.set("R-230", regName, callback, args);
  });
}

aclError aclrtRegStreamStateCallback(const char* regName, aclrtStreamStateCallback callback, void* args) {
  return enter("aclrtRegStreamStateCallback", [&](Process& p) -> Status {
    if (regName == nullptr) return null_pointer("R-156", "regName");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    return p.state_callbacks().stream.set("R-156", regName, callback, args);
  });
}

// --- what needs models, or another build of the vendor's (R-157) ------------------------------------

namespace {

struct Pointer {
  const char* name;
  const void* value;
};
aclError of_models(const char* api, std::initializer_list<Pointer> never_null = {}) {
  return enter(api, [&](Process&) -> Status {
    for (const Pointer& each : never_null) {
      if (each.value == nullptr) return null_pointer("R-157", each.name);
    }
    return unsupported(
        "R-157", "this function works on models, or in another build of the runtime, and is not emulated",
        "do without it");
  });
}

}  // namespace

aclError aclrtPersistentTaskClean(aclrtStream) { return of_models("aclrtPersistentTaskClean"); }
aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) {
  return of_models("aclrtActiveStream", {{"activeStream", activeStream}, {"stream", stream}});
}
aclError aclrtSwitchStream(void* leftValue, aclrtCondition, void* rightValue, aclrtCompareDataType,
                           aclrtStream trueStream, aclrtStream, aclrtStream stream) {
  return of_models(
      "aclrtSwitchStream",
      {{"leftValue", leftValue}, {"rightValue", rightValue}, {"trueStream", trueStream}, {"stream", stream}});
}
aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle(void) {
  (void)of_models("aclrtCreateStreamConfigHandle");
  return nullptr;
}
aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle*) {
  return of_models("aclrtDestroyStreamConfigHandle");
}
aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle*, aclrtStreamConfigAttr, const void*, size_t) {
  return of_models("aclrtSetStreamConfigOpt");
}
aclError aclrtCreateStreamV2(aclrtStream*, const aclrtStreamConfigHandle*) {
  return of_models("aclrtCreateStreamV2");
}
