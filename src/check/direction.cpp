#include "check/direction.h"

#include "acl/acl_rt.h"

namespace belay::check {
namespace {

// Memory with one address for host and devices is on whichever side the caller says.
bool is_on_both(const Memory& memory, const observe::Touch& touch) {
  return !touch.on_device &&
         (memory.is_device_address(touch.address) || memory.managed().covers(touch.address));
}

}  // namespace

std::optional<WrongDirection> wrong_direction(const Memory& memory, std::uint32_t told_kind,
                                              const observe::Touch& to, const observe::Touch& from) {
  if (told_kind == 0 || host_is_device(memory.settings().form)) return std::nullopt;
  const std::uint32_t kind = told_kind - 1;
  if (kind == ACL_MEMCPY_DEFAULT) return std::nullopt;
  const bool says_to_device = kind != ACL_MEMCPY_HOST_TO_HOST && kind != ACL_MEMCPY_DEVICE_TO_HOST;
  const bool says_from_device = kind != ACL_MEMCPY_HOST_TO_HOST && kind != ACL_MEMCPY_HOST_TO_DEVICE &&
                                kind != ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE;
  if (to.on_device == says_to_device && from.on_device == says_from_device) [[likely]]
    return std::nullopt;
  const WrongDirection wrong{kind, to.on_device != says_to_device && !is_on_both(memory, to),
                             from.on_device != says_from_device && !is_on_both(memory, from), to.on_device,
                             from.on_device};
  if (!wrong.to_wrong && !wrong.from_wrong) return std::nullopt;
  return wrong;
}

}  // namespace belay::check
