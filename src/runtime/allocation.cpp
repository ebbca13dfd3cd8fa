#include "runtime/allocation.h"

#include <optional>
#include <span>

#include "base/read_once.h"
#include "base/words.h"

namespace belay {
namespace {

// What was asked for: host and media memory have no policy.
struct Request {
  std::size_t size;
  std::optional<std::uint32_t> policy;
};

Refusal from_plan(const Process& process, const PlanRefusal& why, const Request& request) {
  const std::string policy = request.policy ? fmt::format("policy {:#x}", *request.policy) : "";
  if (why.code == ACL_ERROR_INVALID_PARAM) {
    return refuse({why.code, why.rule, "EH0009",
                   fmt::format("a request of {} bytes{}{} is not accepted: {}", request.size,
                               policy.empty() ? "" : " with ", policy, why.text),
                   "", why.cure});
  }
  if (why.code == ACL_ERROR_RT_PARAM_INVALID)
    return rejected(why.rule, "size", request.size, why.text, why.cure);
  if (why.code == ACL_ERROR_RT_FEATURE_NOT_SUPPORT)
    return unsupported(why.rule, fmt::format("{}: {} on {}", policy, why.text, machine_in_words(process)),
                       why.cure);
  return out_of_memory(why.rule, fmt::format("module APP asked for {} bytes: {}", request.size, why.text), "",
                       why.cure);
}

// Shortage leaves NULL behind, every other refusal leaves the output alone (M-6).
Status store(void** out, Result<void*> result) {
  if (result) {
    *out = *result;
    return done();
  }
  Refusal refusal = result.take_refusal();
  if (refusal->code == ACL_ERROR_RT_MEMORY_ALLOCATION) *out = nullptr;
  return refusal;
}

Status refused(const Process& process, void** out, const PlanRefusal& why, const Request& request) {
  if (why.code == ACL_ERROR_RT_MEMORY_ALLOCATION) *out = nullptr;
  return from_plan(process, why, request);
}

// The rule about a combination of policies that works, but that nobody documents; null: it is documented.
const char* undocumented(std::uint32_t policy) {
  constexpr std::uint32_t kBandWidth = ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH;
  const bool read_only = (policy & ACL_MEM_ACCESS_USER_SPACE_READONLY) != 0;
  const std::uint32_t base = policy & ~(kBandWidth | ACL_MEM_ACCESS_USER_SPACE_READONLY);
  if (read_only && policy != ACL_MEM_ACCESS_USER_SPACE_READONLY) return "M-66";
  return (policy & kBandWidth) != 0 && base > ACL_MEM_MALLOC_NORMAL_ONLY ? "M-424" : nullptr;
}

struct Attributes {
  std::uint8_t module;
  bool unified_address = false;
  std::optional<std::uint32_t> device = std::nullopt;
};

// The configuration as it stands at this moment; its list is walked as far as its count said then.
std::optional<aclrtMallocConfig> taken(const aclrtMallocConfig* configuration) {
  if (configuration == nullptr) return std::nullopt;
  return aclrtMallocConfig{read_once(configuration->attrs), read_once(configuration->numAttrs)};
}

std::uint8_t module_or(std::uint16_t wished, std::uint8_t fallback) {
  return wished > 255 ? fallback : static_cast<std::uint8_t>(wished);
}

Refusal bad_attribute(const char* rule, aclrtMallocAttrType type, const char* accepted) {
  return rejected(rule, "cfg", fmt::format("attribute type {}", static_cast<int>(type)),
                  fmt::format("this function takes {}", accepted), "leave it out");
}

}  // namespace

Status allocate(Process& process, Api api, void** out, std::size_t size, std::uint32_t policy) {
  if (out == nullptr) return null_pointer("M-81", "devPtr");
  const PlanResult planned = plan(size, policy, api, process.product(), process.settings().memory.form);
  if (!planned && planned.refusal.before_context) return from_plan(process, planned.refusal, {size, policy});
  const std::uint64_t state = FastPathState::now();
  const Context* context = process.current();
  if (context == nullptr) return no_context("M-84");
  process.memory().set_device_of_thread(state, context->device);
  if (api == Api::MallocCached) {
    if (Status here = needs_feature(process, Feature::AllButIpv); !here) return here;
  }
  if (!planned) return refused(process, out, planned.refusal, {size, policy});
  if (const char* rule = undocumented(policy)) [[unlikely]] {
    observe::note(rule, [&] {
      return fmt::format("policy {:#x} is a combination that the documents do not list", policy);
    });
  }
  return store(out, process.memory().allocate(context->device, *planned, kModuleApp, Origin::Malloc));
}

Status allocate_configured(Process& process, Api api, void** out, std::size_t size, std::uint32_t policy,
                           const aclrtMallocConfig* configuration) {
  if (out == nullptr) return null_pointer("M-96", "devPtr");
  const std::optional<aclrtMallocConfig> given = taken(configuration);
  if (given && given->numAttrs != 0 && given->attrs == nullptr) return null_pointer("M-97", "cfg->attrs");
  const PlanResult planned = plan(size, policy, api, process.product(), process.settings().memory.form);
  if (!planned && planned.refusal.before_context && size == 0)
    return from_plan(process, planned.refusal, {size, policy});
  if (!has(process.product().product, Feature::AllButIpv))
    return needs_context(process, "M-100", Feature::AllButIpv);
  if (given && given->attrs == nullptr) {
    return rejected("M-99", "cfg", "{NULL, 0}", "a configuration without attributes",
                    "pass NULL for no configuration");
  }
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "M-100"));

  Attributes wished{kModuleApp};
  if (given) {
    for (const aclrtMallocAttribute each : std::span{given->attrs, given->numAttrs}) {
      switch (each.attr) {
        case ACL_RT_MEM_ATTR_RSV:
          break;
        case ACL_RT_MEM_ATTR_MODULE_ID:
          wished.module = module_or(each.value.moduleId, kModuleApp);
          break;
        case ACL_RT_MEM_ATTR_DEVICE_ID:
          wished.device = each.value.deviceId;
          break;  // the last one counts (M-107)
        case ACL_RT_MEM_ATTR_VA_FLAG:
        default:
          return bad_attribute("M-101", each.attr, "RSV, MODULE_ID and DEVICE_ID");
      }
    }
  }
  if (wished.device.value_or(context->device) != context->device) {
    return rejected("M-102", "cfg", fmt::format("device {}", *wished.device),
                    fmt::format("the current device is {}", context->device),
                    "set that device first, or leave the attribute out");
  }
  if (!planned) return refused(process, out, planned.refusal, {size, policy});
  return store(out, process.memory().allocate(context->device, *planned, wished.module, Origin::Malloc));
}

Status allocate_host(Process& process, void** out, std::size_t size) {
  if (out == nullptr) return null_pointer("M-170", "hostPtr");
  const PlanResult planned =
      plan(size, 0, Api::MallocHost, process.product(), process.settings().memory.form);
  if (!planned && planned.refusal.before_context) return from_plan(process, planned.refusal, {size, {}});
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "M-172"));
  if (Status here = needs_feature(process, Feature::AllButIpv); !here) return here;
  if (!planned) return refused(process, out, planned.refusal, {size, {}});
  return store(out, process.memory().allocate_host(context->device, *planned, kModuleApp, false));
}

Status allocate_host_configured(Process& process, void** out, std::uint64_t size,
                                const aclrtMallocConfig* configuration) {
  if (out == nullptr) return null_pointer("M-178", "ptr");
  const PlanResult planned =
      plan(size, 0, Api::MallocHostWithCfg, process.product(), process.settings().memory.form);
  if (!planned && planned.refusal.before_context) return from_plan(process, planned.refusal, {size, {}});
  if (!has(process.product().product, Feature::AllButIpv))
    return needs_context(process, "M-182", Feature::AllButIpv);
  const std::optional<aclrtMallocConfig> given = taken(configuration);
  if (given && given->attrs == nullptr) {
    return rejected("M-180", "cfg", "NULL attributes", "a configuration without attributes",
                    "pass NULL for no configuration");
  }
  Attributes wished{kModuleRuntime};
  if (given) {
    for (const aclrtMallocAttribute each : std::span{given->attrs, given->numAttrs}) {
      switch (each.attr) {
        case ACL_RT_MEM_ATTR_MODULE_ID:
          wished.module = module_or(each.value.moduleId, kModuleRuntime);
          break;
        case ACL_RT_MEM_ATTR_VA_FLAG:
          wished.unified_address = each.value.vaFlag == 1;
          break;
        case ACL_RT_MEM_ATTR_RSV:
        case ACL_RT_MEM_ATTR_DEVICE_ID:
        default:
          return bad_attribute("M-181", each.attr, "MODULE_ID and VA_FLAG");
      }
    }
  }
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "M-182"));
  if (wished.unified_address && !has(process.product().product, Feature::UnifiedHostVa)) {
    return unsupported("M-183", fmt::format("vaFlag 1 is not available on {}", process.product().family),
                       "leave VA_FLAG out");
  }
  if (!planned) return refused(process, out, planned.refusal, {static_cast<std::size_t>(size), {}});
  return store(
      out, process.memory().allocate_host(context->device, *planned, wished.module, wished.unified_address));
}

Status allocate_media(Process& process, Api api, void** out, std::size_t size) {
  if (out == nullptr) return null_pointer("M-392", "devPtr");
  const PlanResult planned = plan(size, 0, api, process.product(), process.settings().memory.form);
  if (!planned && planned.refusal.before_context) return from_plan(process, planned.refusal, {size, {}});
  ASSIGN_OR_RETURN(const Context* context, current_context(process, "M-395"));
  const bool v1 = api == Api::MediaV1Malloc;
  if (Status here = needs_feature(process, v1 ? Feature::MediaV1 : Feature::MediaV2); !here) return here;
  if (!planned) return refused(process, out, planned.refusal, {size, {}});
  constexpr std::uint8_t kModuleDvpp = 6;
  return store(out, process.memory().allocate(context->device, *planned, kModuleDvpp,
                                              v1 ? Origin::MediaV1 : Origin::MediaV2));
}

}  // namespace belay
