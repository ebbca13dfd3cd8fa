// One device as this process sees it: opened, set, reset, closed (R-52 ... R-67).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "acl/acl_rt.h"
#include "runtime/context.h"

namespace belay {

struct Device {
  std::uint32_t set_count = 0;          // SetDevice minus ResetDevice
  std::uint32_t explicit_contexts = 0;  // each keeps the device open
  bool open = false;
  bool opening = false;  // some thread is telling that it opens (R-99: once)
  std::shared_ptr<Context> primary;
  std::optional<aclrtFloatOverflowMode> saturation;         // none: as the product comes
  std::array<std::optional<std::uint32_t>, 2> core_limits;
};

}  // namespace belay
