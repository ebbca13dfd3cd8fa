// Contexts, and the options kept in them, in devices and in the process.
#include "acl/acl.h"
#include "api/door.h"
#include "runtime/stream_calls.h"

using namespace belay;

namespace {

bool value_fits(aclSysParamOpt opt, int64_t value) {
  return value >= 0 && value < (opt == ACL_OPT_DETERMINISTIC ? 4 : 2);
}

Refusal bad_option_value(const char* rule, int64_t value) {
  return rejected(rule, "value", value, "outside the values of the option",
                  "pass 0 or 1 (ACL_OPT_DETERMINISTIC: 0 to 3)");
}

}  // namespace

aclError aclrtCreateContext(aclrtContext* context, int32_t deviceId) {
  return enter("aclrtCreateContext", [&](Process& p) -> Status {
    if (context == nullptr) return null_pointer("R-106", "context");
    ASSIGN_OR_RETURN(const Handle handle, p.create_context(deviceId));
    return give(context, reinterpret_cast<aclrtContext>(handle));
  });
}

aclError aclrtDestroyContext(aclrtContext context) {
  return enter("aclrtDestroyContext", [&](Process& p) -> Status {
    if (context == nullptr) return null_pointer("R-113", "context");
    return p.destroy_context(handle_of(context));
  });
}

aclError aclrtSetCurrentContext(aclrtContext context) {
  return enter("aclrtSetCurrentContext", [&](Process& p) -> Status {
    if (context == nullptr) return null_pointer("R-109", "context");
    return p.set_current(handle_of(context));
  });
}

aclError aclrtGetCurrentContext(aclrtContext* context) {
  return enter("aclrtGetCurrentContext", [&](Process& p) -> Status {
    if (context == nullptr) return null_pointer("R-110", "context");
    const Context* current = p.current();
    if (current == nullptr) {
      Refusal refusal = no_context("R-110");
      refusal->remember = false;
      return refusal;
    }
    return give(context, reinterpret_cast<aclrtContext>(current->handle));
  });
}

aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream) {
  return enter("aclrtCtxGetCurrentDefaultStream", [&](Process& p) -> Status {
    if (stream == nullptr) return null_pointer("R-111", "stream");
    if (Status ready = needs_context(p, "R-111", Feature::AllButIpv); !ready) return ready;
    ASSIGN_OR_RETURN(const Context* context, current_context(p, "R-111"));
    return give(stream, as_handle(*context->default_stream));
  });
}

aclError aclrtGetPrimaryCtxState(int32_t deviceId, uint32_t* flags, int32_t* active) {
  return enter("aclrtGetPrimaryCtxState", [&](Process& p) -> Status {
    if (flags != nullptr) return bad_value("R-112", "flags", hex(flags), "NULL");
    if (active == nullptr) return null_pointer("R-112", "active");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (!p.has_device(deviceId)) return bad_device("R-112", deviceId, p.device_count());
    return give(active, p.is_set(static_cast<uint32_t>(deviceId)) ? 1 : 0);
  });
}

aclError aclrtCtxSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return enter("aclrtCtxSetSysParamOpt", [&](Process& p) -> Status {
    if (static_cast<uint32_t>(opt) > ACL_OPT_STRONG_CONSISTENCY)
      return bad_value("R-122", "opt", static_cast<int>(opt), "0, 1 or 2");
    if (!has(p.product().product, Feature::AllButIpv)) return needs_context(p, "R-122", Feature::AllButIpv);
    if (!value_fits(opt, value)) return bad_option_value("R-122", value);
    ASSIGN_OR_RETURN(Context * context, current_context(p, "R-122"));
    const std::lock_guard lock{context->mutex};
    context->parameters[opt] = value;
    return done();
  });
}

aclError aclrtCtxGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return enter("aclrtCtxGetSysParamOpt", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-122", "value");
    if (static_cast<uint32_t>(opt) > ACL_OPT_STRONG_CONSISTENCY)
      return bad_value("R-122", "opt", static_cast<int>(opt), "0, 1 or 2");
    if (Status ready = needs_context(p, "R-122", Feature::AllButIpv); !ready) return ready;
    ASSIGN_OR_RETURN(Context * context, current_context(p, "R-122"));
    const std::lock_guard lock{context->mutex};
    const std::optional<int64_t>& stored = context->parameters[opt];
    if (!stored) {
      return refuse({ACL_ERROR_RT_SYSPARAMOPT_NOT_SET, "R-122", "EE1018",
                     fmt::format("option {} was never set in this context", static_cast<int>(opt)), "",
                     "call aclrtCtxSetSysParamOpt first"});
    }
    return give(value, *stored);
  });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return enter("aclrtSetSysParamOpt", [&](Process& p) -> Status {
    if (static_cast<uint32_t>(opt) > ACL_OPT_ENABLE_KERNEL_EARLY_START)
      return bad_value("R-123", "opt", static_cast<int>(opt), "0 to 3");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (!value_fits(opt, value)) return bad_option_value("R-123", value);
    p.system_parameters[opt].store(value);
    return done();
  });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return enter("aclrtGetSysParamOpt", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-123", "value");
    if (static_cast<uint32_t>(opt) > ACL_OPT_ENABLE_KERNEL_EARLY_START)
      return bad_value("R-123", "opt", static_cast<int>(opt), "0 to 3");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    return give(value, p.system_parameters[opt].load());
  });
}

// --- limits on cores: kept and given back, without effect --------------------------------

namespace {

Status check_core_type(aclrtDevResLimitType type) {
  if (static_cast<uint32_t>(type) <= ACL_RT_DEV_RES_VECTOR_CORE) return done();
  return rejected("R-124", "type", static_cast<int>(type), "no such resource",
                  "pass ACL_RT_DEV_RES_CUBE_CORE or ACL_RT_DEV_RES_VECTOR_CORE");
}

uint32_t cores(const Process& p, uint32_t device, aclrtDevResLimitType type) {
  const uint32_t built = type == ACL_RT_DEV_RES_CUBE_CORE ? p.product().ai_cores : p.product().vector_cores;
  return p.core_limit(device, type).value_or(built);
}

}  // namespace

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return enter("aclrtGetDeviceResLimit", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-124", "value");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (Status known = check_core_type(type); !known) return known;
    if (!p.has_device(deviceId)) return bad_device("R-124", deviceId, p.device_count());
    return give(value, cores(p, static_cast<uint32_t>(deviceId), type));
  });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return enter("aclrtSetDeviceResLimit", [&](Process& p) -> Status {
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (Status known = check_core_type(type); !known) return known;
    if (!p.has_device(deviceId)) return bad_device("R-124", deviceId, p.device_count());
    p.set_core_limit(static_cast<uint32_t>(deviceId), type, value);
    return done();
  });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return enter("aclrtResetDeviceResLimit", [&](Process& p) -> Status {
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (!p.has_device(deviceId)) return bad_device("R-124", deviceId, p.device_count());
    for (const size_t type : {size_t{0}, size_t{1}})
      p.set_core_limit(static_cast<uint32_t>(deviceId), type, std::nullopt);
    return done();
  });
}

namespace {

uint32_t cores(const Process& p, const Stream& stream, aclrtDevResLimitType type) {
  const int64_t kept = stream.core_limits[type].load();
  return kept >= 0 ? static_cast<uint32_t>(kept) : cores(p, stream.device(), type);
}

// The stream whose limits this thread uses.
constinit thread_local Handle t_used_stream = 0;

Result<StreamRef> limited_stream(Process& p, aclrtStream stream) {
  if (Status here = needs_feature_after_context(p, "R-124", Feature::AllButIpv); !here)
    return here.take_refusal();
  return meant_stream(p, stream, "R-124");
}

}  // namespace

aclError aclrtGetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t* value) {
  return enter("aclrtGetStreamResLimit", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-124", "value");
    ASSIGN_OR_RETURN(const StreamRef found, limited_stream(p, stream));
    if (Status known = check_core_type(type); !known) return known;
    return give(value, cores(p, *found, type));
  });
}

aclError aclrtSetStreamResLimit(aclrtStream stream, aclrtDevResLimitType type, uint32_t value) {
  return enter("aclrtSetStreamResLimit", [&](Process& p) -> Status {
    ASSIGN_OR_RETURN(const StreamRef found, limited_stream(p, stream));
    if (Status known = check_core_type(type); !known) return known;
    found->core_limits[type].store(value);
    return done();
  });
}

aclError aclrtResetStreamResLimit(aclrtStream stream) {
  return enter("aclrtResetStreamResLimit", [&](Process& p) -> Status {
    ASSIGN_OR_RETURN(const StreamRef found, limited_stream(p, stream));
    for (std::atomic<int64_t>& each : found->core_limits) each.store(-1);
    return done();
  });
}

aclError aclrtUseStreamResInCurrentThread(aclrtStream stream) {
  return enter("aclrtUseStreamResInCurrentThread", [&](Process& p) -> Status {
    ASSIGN_OR_RETURN(const StreamRef found, limited_stream(p, stream));
    t_used_stream = found->handle;
    return done();
  });
}

aclError aclrtUnuseStreamResInCurrentThread(aclrtStream stream) {
  return enter("aclrtUnuseStreamResInCurrentThread", [&](Process& p) -> Status {
    ASSIGN_OR_RETURN(const StreamRef found, limited_stream(p, stream));
    if (t_used_stream == found->handle) t_used_stream = 0;
    return done();
  });
}

aclError aclrtGetResInCurrentThread(aclrtDevResLimitType type, uint32_t* value) {
  return enter("aclrtGetResInCurrentThread", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-124", "value");
    if (Status ready = needs_context(p, "R-124", Feature::AllButIpv); !ready) return ready;
    if (Status known = check_core_type(type); !known) return known;
    ASSIGN_OR_RETURN(const Context* context, current_context(p, "R-124"));
    const StreamRef used = t_used_stream != 0 ? p.streams().find(t_used_stream) : nullptr;
    return give(value, used != nullptr && used->device() == context->device
                           ? cores(p, *used, type)
                           : cores(p, context->device, type));
  });
}

// Kernels would follow it, and none run here: programs fetch it when they start, and only pass it on.
aclError aclrtGetHardwareSyncAddr(void** addr) {
  return enter("aclrtGetHardwareSyncAddr", [&](Process& p) -> Status {
    if (addr == nullptr)
      return rejected("R-274", "addr", "NULL", "there is nowhere to store the address",
                      "pass a valid pointer");
    if (Status ready = needs_context(p, "R-274", Feature::HardwareSync); !ready) return ready;
    ASSIGN_OR_RETURN(const Context* context, current_context(p, "R-274"));
    return give(addr, reinterpret_cast<void*>(p.memory().map().nowhere(context->device)));
  });
}

aclError aclrtCtxGetFloatOverflowAddr(void**) {
  return enter("aclrtCtxGetFloatOverflowAddr", [](Process&) -> Status {
    return unsupported("R-125", "there is no overflow address without hardware",
                       "do without it: kernels, which would write there, do not run here");
  });
}
