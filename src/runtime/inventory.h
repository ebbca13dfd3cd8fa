// What the machine says about itself: attributes, addresses on the bus, numberings.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "acl/acl_rt.h"
#include "base/result.h"
#include "runtime/process.h"

namespace belay {

// aclrtGetDeviceInfo.
Result<std::int64_t> device_attribute(const Process& process, aclrtDevAttr attribute);

// Stable for the life of the process and different for each device.
std::array<char, 16> device_uuid(const Process& process, std::uint32_t device);
std::string pci_bus_id(const Process& process, std::uint32_t device);
std::optional<std::uint32_t> device_by_pci_bus_id(const Process& process, const std::string& text);

// User ids are positions in ASCEND_RT_VISIBLE_DEVICES, logical ids count the machine's devices.
Result<std::int32_t> logical_by_user(const Process& process, std::int32_t user);
Result<std::int32_t> user_by_logical(const Process& process, std::int32_t logical);

}  // namespace belay
