#include "runtime/inventory.h"

#include <algorithm>
#include <cctype>

namespace belay {

Result<std::int64_t> device_attribute(const Process& process, aclrtDevAttr attribute) {
  const ProductRow& row = process.product();
  switch (static_cast<int>(attribute)) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
      return std::int64_t{row.ai_cpus};
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
      return std::int64_t{row.ai_cores};
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      return std::int64_t{row.vector_cores};
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:  // as the books count it, with the limits applied
      return static_cast<std::int64_t>(in_pages(process.settings().memory.limits).total * 4_KiB);
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      return static_cast<std::int64_t>(row.l2_bytes);
    case ACL_DEV_ATTR_NPU_ARCH:
      return row.npu_arch;
    case ACL_DEV_ATTR_HD_CONNECT_TYPE:
      if (!has(row.product, Feature::LinkAttributes)) break;
      return std::int64_t{ACL_HOST_DEVICE_CONNECT_TYPE_UB};
    case ACL_DEV_ATTR_DEVICE_FORM_FACTOR:
      if (!has(row.product, Feature::LinkAttributes)) break;
      return std::int64_t{ACL_DEVICE_FORM_FACTOR_A_K};
    default: {
      const int value = static_cast<int>(attribute);
      const bool simt = value >= ACL_DEV_ATTR_WARP_SIZE && value <= ACL_DEV_ATTR_MAX_BLOCK_DIM_Z;
      const bool placement = value >= ACL_DEV_ATTR_SMP_ID && value <= ACL_DEV_ATTR_MAINBOARD_ID;
      if (simt || placement || value == ACL_DEV_ATTR_IS_VIRTUAL) return std::int64_t{0};
      return rejected("R-80", "attr", value, "no such attribute", "pass a member of aclrtDevAttr");
    }
  }
  return unsupported("R-81",
                     fmt::format("attribute {} exists on Ascend 950 only", static_cast<int>(attribute)),
                     "leave it out, or choose 950 with BELAY_PRODUCT");
}

std::array<char, 16> device_uuid(const Process& process, std::uint32_t device) {
  const std::string text = fmt::format("belay-{:.6}-{:03}", process.settings().soc.substr(6),
                                       process.settings().memory.visible[device]);
  std::array<char, 16> uuid{};
  std::copy_n(text.begin(), std::min(text.size(), uuid.size()), uuid.begin());
  uuid[15] = static_cast<char>(process.settings().memory.visible[device]);
  return uuid;
}

std::string pci_bus_id(const Process& process, std::uint32_t device) {
  return fmt::format("0000:{:02x}:00.0", pci_bus_of(process.settings().memory.visible[device]));
}

std::optional<std::uint32_t> device_by_pci_bus_id(const Process& process, const std::string& text) {
  std::string lower = text;
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (std::uint32_t device = 0; device < process.device_count(); ++device) {
    if (pci_bus_id(process, device) == lower) return device;
  }
  return std::nullopt;
}

Result<std::int32_t> logical_by_user(const Process& process, std::int32_t user) {
  if (user < 0) return rejected("R-89", "device id", user, "it is negative", "pass a number from 0");
  if (!process.has_device(user)) return bad_device("R-89", user, process.device_count());
  return static_cast<std::int32_t>(process.settings().memory.visible[static_cast<std::size_t>(user)]);
}

Result<std::int32_t> user_by_logical(const Process& process, std::int32_t logical) {
  if (logical < 0) return rejected("R-89", "device id", logical, "it is negative", "pass a number from 0");
  const auto& visible = process.settings().memory.visible;
  const auto found = std::ranges::find(visible, static_cast<std::uint32_t>(logical));
  if (found == visible.end()) return bad_device("R-89", logical, process.device_count());
  return static_cast<std::int32_t>(found - visible.begin());
}

}  // namespace belay
