// Where a pointer leads, and what may be done there. A call asks once for each of its pointers, and a task
// asks again when it runs.
#pragma once

#include <cstdint>
#include <optional>

#include "acl/acl_rt.h"
#include "memory/heap_map.h"

namespace belay {

struct Location {
  enum class Kind : std::uint8_t {
    Pageable,     // host memory that belay does not know
    Pinned,       // host memory of aclrtMallocHost, or registered
    Device,       // a live block
    Unallocated,  // a device address where no block lives, or one of managed memory that is gone
    Managed,      // one address for host and devices, with bytes that are there as the host's
    Alias         // a device address of registered host memory, for device-side use only (M-210)
  };

  std::uintptr_t address;
  Kind kind;
  bool in_window;  // its bytes are behind a device address: also pinned memory, where host and device are one
  Block block;     // around the address, if it is in the window and allocated

  bool is(Kind which) const { return kind == which; }
  bool is_device() const { return kind == Kind::Device; }
  bool is_pageable() const { return kind == Kind::Pageable; }
  // As the stated kind of a copy counts it: whatever is no host address (M-263).
  bool is_device_side() const { return kind != Kind::Pageable && kind != Kind::Pinned; }
  bool is_host() const { return !is_device_side(); }
  // Nothing that a program may use.
  bool is_nothing() const { return kind == Kind::Unallocated || kind == Kind::Alias; }
  std::uint32_t device() const { return is_device() ? block.device : 0; }
};

// How a copy goes.
enum class Way : std::uint8_t { HostToDevice, DeviceToHost, OnDevice, BetweenDevices, OnHost };

constexpr Way way_between(bool to_device, bool from_device, bool same_device) {
  if (to_device && from_device) return same_device ? Way::OnDevice : Way::BetweenDevices;
  if (to_device) return Way::HostToDevice;
  return from_device ? Way::DeviceToHost : Way::OnHost;
}
inline Way way_between(const Location& to, const Location& from) {
  return way_between(to.is_device(), from.is_device(), to.device() == from.device());
}

// The kind of a copy that results from what was stated and where the two ends really are (M-263), or nothing
// where these cannot be reconciled.
inline std::optional<aclrtMemcpyKind> reconcile(const Location& from, const Location& to,
                                                aclrtMemcpyKind stated) {
  const auto one_of = [&](auto... kinds) { return ((stated == kinds) || ...); };
  const auto given_or = [&](aclrtMemcpyKind by_default) {
    return stated == ACL_MEMCPY_DEFAULT ? by_default : stated;
  };
  // Managed memory is on whichever side the caller says, or on the other one than the other end; it is copied
  // in the order of the stream (M-274).
  const bool from_managed = from.is(Location::Kind::Managed), to_managed = to.is(Location::Kind::Managed);
  if (from_managed || to_managed) {
    if (!one_of(ACL_MEMCPY_HOST_TO_HOST, ACL_MEMCPY_DEFAULT)) return stated;
    if (from_managed && to_managed) return ACL_MEMCPY_DEVICE_TO_DEVICE;
    const bool from_device = from_managed ? !to.is_device_side() : from.is_device_side();
    return from_device ? ACL_MEMCPY_DEVICE_TO_HOST : ACL_MEMCPY_HOST_TO_DEVICE;
  }
  if (!from.is_pageable() && !to.is_pageable()) {
    if (from.is_device_side())
      return to.is_device_side() ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
    return to.is_device_side() ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_HOST_TO_HOST;
  }
  if (from.is_pageable() && to.is_pageable()) return given_or(ACL_MEMCPY_HOST_TO_HOST);
  if (to.is_device_side()) {
    if (!one_of(ACL_MEMCPY_HOST_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT))
      return std::nullopt;
    return given_or(ACL_MEMCPY_HOST_TO_DEVICE);
  }
  if (from.is_device_side()) {
    if (!one_of(ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEFAULT))
      return std::nullopt;
    return given_or(ACL_MEMCPY_DEVICE_TO_HOST);
  }
  const aclrtMemcpyKind other = to.is_pageable() ? ACL_MEMCPY_HOST_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST;
  if (!one_of(ACL_MEMCPY_HOST_TO_HOST, other, ACL_MEMCPY_DEFAULT)) return std::nullopt;
  return given_or(ACL_MEMCPY_HOST_TO_HOST);
}

}  // namespace belay
