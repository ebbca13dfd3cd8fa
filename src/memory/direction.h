// How the stated kind of a copy and the real addresses are brought together (M-263).
#pragma once

#include <cstdint>
#include <optional>

#include "acl/acl_rt.h"
#include "memory/memory.h"

namespace belay {

enum class Side : std::uint8_t { Pinned, Device, Pageable };

inline Side side_of(const Memory& memory, const void* pointer) {
  switch (memory.locate(reinterpret_cast<std::uintptr_t>(pointer)).place) {
    case Place::Device:
    case Place::NoBlock:
    case Place::DeviceAlias:
      return Side::Device;
    case Place::Host:
      return Side::Pinned;
    case Place::Pageable:
      break;
  }
  return Side::Pageable;
}

// The kind that results, or nothing where they cannot be reconciled.
constexpr std::optional<aclrtMemcpyKind> reconcile(Side from, Side to, aclrtMemcpyKind stated) {
  const auto one_of = [&](auto... kinds) { return ((stated == kinds) || ...); };
  const auto given_or = [&](aclrtMemcpyKind by_default) {
    return stated == ACL_MEMCPY_DEFAULT ? by_default : stated;
  };
  if (from != Side::Pageable && to != Side::Pageable) {
    if (from == Side::Device)
      return to == Side::Device ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
    return to == Side::Device ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_HOST_TO_HOST;
  }
  if (from == Side::Pageable && to == Side::Pageable) return given_or(ACL_MEMCPY_HOST_TO_HOST);
  if (to == Side::Device) {
    if (!one_of(ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT))
      return std::nullopt;
    return given_or(ACL_MEMCPY_HOST_TO_DEVICE);
  }
  if (from == Side::Device) {
    if (!one_of(ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT))
      return std::nullopt;
    return given_or(ACL_MEMCPY_DEVICE_TO_HOST);
  }
  const aclrtMemcpyKind other = from == Side::Pinned ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  if (!one_of(ACL_MEMCPY_HOST_TO_HOST, other, ACL_MEMCPY_DEFAULT)) return std::nullopt;
  return given_or(ACL_MEMCPY_HOST_TO_HOST);
}

}  // namespace belay
