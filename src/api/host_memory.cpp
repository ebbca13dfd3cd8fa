// Host memory: allocate, free, register.
#include "acl/acl.h"
#include "api/door.h"
#include "base/words.h"
#include "runtime/allocation.h"
#include "runtime/stream_calls.h"

using namespace belay;

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return enter("aclrtMallocHost", [&](Process& p) { return allocate_host(p, hostPtr, size); });
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  return enter("aclrtMallocHostWithCfg",
               [&](Process& p) { return allocate_host_configured(p, ptr, size, cfg); });
}

aclError aclrtFreeHost(void* hostPtr) {
  return enter("aclrtFreeHost", [&](Process& p) -> Status {
    if (hostPtr == nullptr) return null_pointer("M-187", "hostPtr");
    if (Status here = needs_feature(p, Feature::AllButIpv); !here) return here;
    return p.memory().free_host(hostPtr);
  });
}

aclError aclrtFreeHostWithDevSync(void* hostPtr) {
  return enter("aclrtFreeHostWithDevSync", [&](Process& p) -> Status {
    if (hostPtr == nullptr) return null_pointer("M-192", "hostPtr");
    if (Status ready = needs_context(p, "M-192", Feature::AllButIpv); !ready) return ready;
    if (Status waited = synchronize_device(p, -1, "M-192"); !waited) return waited;
    return p.memory().free_host(hostPtr);
  });
}

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return enter("aclrtHostRegister", [&](Process& p) -> Status {
    if (ptr == nullptr) return null_pointer("M-194", "ptr");
    if (devPtr == nullptr) return null_pointer("M-195", "devPtr");
    if (size == 0) return bad_value("M-196", "size", size, "at least 1");
    const auto bits = static_cast<uint32_t>(type);
    constexpr uint32_t kReserved = ACL_HOST_REGISTER_IOMEMORY | ACL_HOST_REGISTER_READONLY;
    if ((bits & ~kReserved) != 0)
      return unsupported("M-197", fmt::format("type {:#x} has unknown bits", bits),
                         "pass ACL_HOST_REGISTER_MAPPED");
    if (Status ready = needs_context(p, "M-198", Feature::HostRegistration); !ready) return ready;
    if (bits != 0)
      return unsupported("M-209", fmt::format("type {:#x} is reserved", bits),
                         "pass ACL_HOST_REGISTER_MAPPED");
    ASSIGN_OR_RETURN(
        const std::uintptr_t address,
        p.memory().host().register_range(reinterpret_cast<std::uintptr_t>(ptr), size, {true, false}));
    return give(devPtr, reinterpret_cast<void*>(address));
  });
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  return enter("aclrtHostRegisterV2", [&](Process& p) -> Status {
    if (ptr == nullptr) return null_pointer("M-201", "ptr");
    if (size == 0) return bad_value("M-202", "size", size, "at least 1");
    constexpr uint32_t kReserved = ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY;
    constexpr uint32_t kKnown = ACL_HOST_REG_MAPPED | ACL_HOST_REG_PINNED | kReserved;
    if (flag == 0 || (flag & ~kKnown) != 0) {
      return rejected("M-203", "flag", fmt::format("{:#x}", flag), "it is 0 or has unknown bits",
                      "OR together ACL_HOST_REG_MAPPED and ACL_HOST_REG_PINNED");
    }
    if (Status ready = needs_context(p, "M-204", Feature::HostRegistration); !ready) return ready;
    if ((flag & kReserved) != 0)
      return unsupported("M-209", fmt::format("flag {:#x} has reserved bits", flag),
                         "leave IOMEMORY and READONLY out");
    return p.memory()
        .host()
        .register_range(reinterpret_cast<std::uintptr_t>(ptr), size,
                        {(flag & ACL_HOST_REG_MAPPED) != 0, (flag & ACL_HOST_REG_PINNED) != 0})
        .take_refusal();
  });
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  return enter("aclrtHostGetDevicePointer", [&](Process& p) -> Status {
    if (pHost == nullptr) return null_pointer("M-214", "pHost");
    if (pDevice == nullptr) return null_pointer("M-215", "pDevice");
    if (flag != 0) return bad_value("M-216", "flag", flag, "0");
    if (Status ready = needs_context(p, "M-217", Feature::HostRegistration); !ready) return ready;
    const std::optional<std::uintptr_t> address =
        p.memory().host().device_pointer(reinterpret_cast<std::uintptr_t>(pHost));
    if (!address) {
      return rejected("M-218", "pHost", hex(pHost), "no mapped registration starts there",
                      "register it with ACL_HOST_REG_MAPPED and pass the same address");
    }
    return give(pDevice, reinterpret_cast<void*>(*address));
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return enter("aclrtHostUnregister", [&](Process& p) -> Status {
    if (ptr == nullptr) return null_pointer("M-219", "ptr");
    if (Status ready = needs_context(p, "M-220", Feature::HostRegistration); !ready) return ready;
    return p.memory().host().unregister(reinterpret_cast<std::uintptr_t>(ptr));
  });
}

aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
                                     aclrtHostMemMapCapability* capabilities) {
  return enter("aclrtHostMemMapCapabilities", [&](Process& p) -> Status {
    if (capabilities == nullptr) return null_pointer("M-223", "capabilities");
    if (!p.has_device(deviceId)) return bad_device("M-224", deviceId, p.device_count());
    if (static_cast<uint32_t>(hacType) > ACL_RT_HAC_TYPE_CCU) {
      return rejected("M-225", "hacType", static_cast<uint32_t>(hacType), "no such accelerator",
                      "pass a member of aclrtHacType");
    }
    if (Status ready = needs_context(p, "M-226", Feature::HostMapQuery); !ready) return ready;
    const bool reaches_host = has(p.product().product, Feature::HostRegistration);  // M-228
    return give(capabilities,
                reaches_host ? ACL_RT_HOST_MEM_MAP_SUPPORTED : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED);
  });
}
