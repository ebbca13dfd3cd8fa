// What devices say about themselves, and how they are numbered.
#include <algorithm>
#include <cstring>

#include "acl/acl.h"
#include "api/door.h"
#include "platform/process.h"
#include "runtime/inventory.h"

using namespace belay;

aclError aclrtGetDeviceCount(uint32_t* count) {
  return enter("aclrtGetDeviceCount", [&](Process& p) -> Status {
    if (count == nullptr) return null_pointer("R-75", "count");
    if (Status ready = p.usable(); !ready) return ready;
    if (p.device_count() == 0) {
      return refuse(
          {ACL_ERROR_RT_NO_DEVICE, "R-75", "EE2002",
           fmt::format("the environment variable ASCEND_RT_VISIBLE_DEVICES has the value '{}', which names "
                       "no device of this machine ({} in all)",
                       p.settings().visible_trouble, p.settings().machine.devices),
           "", "list existing device ids in ascending order, separated by commas, or unset the variable"});
    }
    return give(count, p.device_count());
  });
}

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return enter("aclrtGetRunMode", [&](Process& p) -> Status {
    if (runMode == nullptr) return null_pointer("R-76", "runMode");
    return give(runMode, host_is_device(p.settings().memory.form) ? ACL_DEVICE : ACL_HOST);
  });
}

const char* aclrtGetSocName(void) {
  const char* name = nullptr;
  enter("aclrtGetSocName", [&](Process& p) -> Status {
    if (Status ready = p.usable(); !ready) return ready;
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    name = p.settings().soc.c_str();
    return done();
  });
  return name;
}

aclError aclrtCheckArchCompatibility(const char* socVersion, int32_t* canCompatible) {
  return enter("aclrtCheckArchCompatibility", [&](Process& p) -> Status {
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (socVersion == nullptr || *socVersion == '\0') {
      return rejected("R-273", "socVersion", socVersion == nullptr ? "NULL" : "''", "there is no name",
                      "pass the name of a SoC, such as aclrtGetSocName returns");
    }
    if (canCompatible == nullptr) {
      return rejected("R-273", "canCompatible", "NULL", "there is nowhere to store the answer",
                      "pass a valid pointer");
    }
    const Chip* chip = find_chip(socVersion);
    if (chip == nullptr) {
      return rejected("R-273", "socVersion", fmt::format("'{}'", socVersion), "no SoC has this name",
                      "pass a name that belay products lists, or that aclrtGetSocName returns");
    }
    return give(canCompatible, row_of(chip->product).npu_arch == p.product().npu_arch ? 1 : 0);
  });
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
  return enter("aclrtQueryDeviceStatus", [&](Process& p) -> Status {
    if (deviceStatus == nullptr) return null_pointer("R-78", "deviceStatus");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (!p.has_device(deviceId)) return bad_device("R-78", deviceId, p.device_count());
    return give(deviceStatus, ACL_RT_DEVICE_STATUS_NORMAL);
  });
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
  return enter("aclrtGetDeviceUtilizationRate", [&](Process& p) -> Status {
    if (utilizationInfo == nullptr) return null_pointer("R-79", "utilizationInfo");
    if (const void* const extension = utilizationInfo->utilizationExtend; extension != nullptr)
      return bad_value("R-79", "utilizationInfo->utilizationExtend", hex(extension), "NULL");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    // Nothing computes here: units that exist are idle, and those of a device that does not exist cannot be
    // read.
    const bool exists = p.has_device(deviceId);
    const auto idle = [&](uint32_t units) { return exists && units > 0 ? 0 : -1; };
    utilizationInfo->cubeUtilization = idle(p.product().ai_cores);
    utilizationInfo->vectorUtilization = idle(p.product().vector_cores);
    utilizationInfo->aicpuUtilization = idle(p.product().ai_cpus);
    utilizationInfo->memoryUtilization = -1;
    return done();
  });
}

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return enter("aclrtGetDeviceInfo", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-80", "value");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (!p.has_device(deviceId))
      return rejected("R-80", "deviceId", deviceId, fmt::format("there are {} devices", p.device_count()),
                      "pass the number of a device, from 0");
    ASSIGN_OR_RETURN(const int64_t answer, device_attribute(p, attr));
    return give(value, answer);
  });
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType, int32_t* value) {
  return enter("aclrtGetDeviceCapability", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-82", "value");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (devFeatureType != ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV &&
        devFeatureType != ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV) {
      return rejected("R-82", "devFeatureType", static_cast<int>(devFeatureType), "no such feature",
                      "pass a member of aclrtDevFeatureType");
    }
    if (!p.has_device(deviceId)) return bad_device("R-82", deviceId, p.device_count());
    return give(value, ACL_DEV_FEATURE_NOT_SUPPORT);
  });
}

aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t* value) {
  return enter("aclrtGetDevicesTopo", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-83", "value");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    for (const uint32_t id : {deviceId, otherDeviceId}) {
      if (!p.has_device(id)) return bad_device("R-83", id, p.device_count());
    }
    if (deviceId == otherDeviceId)
      return rejected("R-83", "otherDeviceId", otherDeviceId, "it is the same device", "name two devices");
    return give(value, ACL_RT_DEVS_TOPOLOGY_HCCS);
  });
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority) {
  return enter("aclrtDeviceGetStreamPriorityRange", [&](Process& p) -> Status {
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    if (leastPriority != nullptr) *leastPriority = 7;
    if (greatestPriority != nullptr) *greatestPriority = 0;
    return done();
  });
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  return enter("aclrtDeviceGetUuid", [&](Process& p) -> Status {
    if (uuid == nullptr) return null_pointer("R-85", "uuid");
    if (Status here = needs_feature(p, Feature::Identity, "R-266"); !here) return here;
    if (!p.has_device(deviceId)) return bad_device("R-85", deviceId, p.device_count());
    const std::array<char, 16> bytes = device_uuid(p, static_cast<uint32_t>(deviceId));
    std::memcpy(uuid->bytes, bytes.data(), bytes.size());
    return done();
  });
}

aclError aclrtDeviceGetPCIBusId(int32_t deviceId, char* pciBusId, int32_t len) {
  return enter("aclrtDeviceGetPCIBusId", [&](Process& p) -> Status {
    if (pciBusId == nullptr) return null_pointer("R-86", "pciBusId");
    if (Status here = needs_feature(p, Feature::Identity, "R-266"); !here) return here;
    if (!p.has_device(deviceId)) return bad_device("R-86", deviceId, p.device_count());
    if (len < 13)
      return rejected("R-86", "len", len, "the id needs 13 bytes", "pass a buffer of at least 13 bytes");
    const std::string id = pci_bus_id(p, static_cast<uint32_t>(deviceId));
    std::memcpy(pciBusId, id.c_str(), id.size() + 1);
    return done();
  });
}

aclError aclrtDeviceGetByPCIBusId(const char* pciBusId, int32_t* deviceId) {
  return enter("aclrtDeviceGetByPCIBusId", [&](Process& p) -> Status {
    if (pciBusId == nullptr) return null_pointer("R-86", "pciBusId");
    if (deviceId == nullptr) return null_pointer("R-86", "deviceId");
    if (Status here = needs_feature(p, Feature::Identity, "R-266"); !here) return here;
    const std::optional<uint32_t> device = device_by_pci_bus_id(p, pciBusId);
    if (!device)
      return rejected("R-86", "pciBusId", pciBusId, "no visible device has that id",
                      "pass one that aclrtDeviceGetPCIBusId returned");
    return give(deviceId, static_cast<int32_t>(*device));
  });
}

// --- numberings ----------------------------------------------------------------------------------

namespace {

using Translation = Result<std::int32_t> (*)(const Process&, std::int32_t);

aclError translate(const char* api, Translation by, int32_t id, int32_t* out) {
  return enter(api, [&](Process& p) -> Status {
    if (out == nullptr) return null_pointer("R-89", "result");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    ASSIGN_OR_RETURN(const std::int32_t answer, by(p, id));
    return give(out, answer);
  });
}

}  // namespace

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
  return translate("aclrtGetLogicDevIdByUserDevId", logical_by_user, userDevid, logicDevId);
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t* const userDevid) {
  return translate("aclrtGetUserDevIdByLogicDevId", user_by_logical, logicDevId, userDevid);
}

// In spite of their names these two speak of user ids; physical ids are logical ids here.
aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t* const logicDevId) {
  return translate("aclrtGetLogicDevIdByPhyDevId", user_by_logical, phyDevId, logicDevId);
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId) {
  return translate("aclrtGetPhyDevIdByLogicDevId", logical_by_user, logicDevId, phyDevId);
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevId) {
  return translate("aclrtGetUserDevIdByPhyDevId", user_by_logical, phyDevId, userDevId);
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t* const phyDevId) {
  return translate("aclrtGetPhyDevIdByUserDevId", logical_by_user, userDevId, phyDevId);
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  return enter("aclrtDeviceGetBareTgid", [&](Process& p) -> Status {
    if (pid == nullptr) return null_pointer("R-90", "pid");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    return give(pid, platform::process_id());
  });
}
