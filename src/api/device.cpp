// Devices: set, reset, get, peer access, settings.
#include "acl/acl.h"
#include "api/door.h"

using namespace belay;

aclError aclrtSetDevice(int32_t deviceId) {
  return enter("aclrtSetDevice", [&](Process& p) { return p.set_device(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return enter("aclrtResetDevice", [&](Process& p) { return p.reset_device(deviceId, false); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return enter("aclrtResetDeviceForce",
               [&](Process& p) { return unremembered(p.reset_device(deviceId, true)); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return enter("aclrtGetDevice", [&](Process& p) -> Status {
    if (deviceId == nullptr) return null_pointer("R-68", "deviceId");
    const Context* context = p.current();
    if (context == nullptr) return unremembered(no_context("R-68"));
    return give(deviceId, static_cast<int32_t>(context->device));
  });
}

// --- peer access ---------------------------------------------------------------------------------

aclError aclrtDeviceCanAccessPeer(int32_t* canAccessPeer, int32_t deviceId, int32_t peerDeviceId) {
  return enter("aclrtDeviceCanAccessPeer", [&](Process& p) -> Status {
    if (deviceId == peerDeviceId)
      return bad_value("R-91", "peerDeviceId", peerDeviceId, "a device other than deviceId");
    if (Status here = needs_feature(p, Feature::PeerAccess, "R-266"); !here) return here;
    if (canAccessPeer == nullptr)
      return rejected("R-91", "canAccessPeer", "NULL", "there is nowhere to store the answer",
                      "pass a valid pointer");
    for (const int32_t id : {deviceId, peerDeviceId}) {
      if (!p.has_device(id)) return bad_device("R-91", id, p.device_count());
    }
    return give(canAccessPeer, 1);
  });
}

namespace {

Status change_peer(Process& p, int32_t peer, bool enable) {
  ASSIGN_OR_RETURN(const Context* context, current_context(p, "R-92"));
  if (Status here = needs_feature(p, Feature::PeerAccess, "R-266"); !here) return here;
  if (peer == static_cast<int32_t>(context->device))
    return bad_value("R-92", "peerDeviceId", peer, "a device other than the current one");
  if (!p.has_device(peer)) return bad_device("R-92", peer, p.device_count());
  Peers& peers = p.memory().peers();
  enable ? peers.enable(context->device, static_cast<uint32_t>(peer))
         : peers.disable(context->device, static_cast<uint32_t>(peer));
  return done();
}

}  // namespace

aclError aclrtDeviceEnablePeerAccess(int32_t peerDeviceId, uint32_t flags) {
  return enter("aclrtDeviceEnablePeerAccess", [&](Process& p) -> Status {
    if (flags != 0) {
      return refuse({ACL_ERROR_FEATURE_UNSUPPORTED, "R-92", "EH0006",
                     fmt::format("value {} of parameter flags is not supported", flags), "", "pass 0"});
    }
    return change_peer(p, peerDeviceId, true);
  });
}

aclError aclrtDeviceDisablePeerAccess(int32_t peerDeviceId) {
  return enter("aclrtDeviceDisablePeerAccess",
               [&](Process& p) { return change_peer(p, peerDeviceId, false); });
}

aclError aclrtDevicePeerAccessStatus(int32_t deviceId, int32_t peerDeviceId, int32_t* status) {
  return enter("aclrtDevicePeerAccessStatus", [&](Process& p) -> Status {
    if (status == nullptr) return null_pointer("R-96", "status");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    for (const int32_t id : {deviceId, peerDeviceId}) {
      if (!p.has_device(id))
        return rejected("R-96", "deviceId", id, "no such device", "pass the number of a device, from 0");
    }
    *status = p.memory().peers().enabled(static_cast<uint32_t>(deviceId), static_cast<uint32_t>(peerDeviceId))
                  ? 1
                  : 0;
    return done();
  });
}

// --- settings ------------------------------------------------------------------------------------

aclError aclrtRegDeviceStateCallback(const char* regName, aclrtDeviceStateCallback callback, void* args) {
  return enter("aclrtRegDeviceStateCallback", [&](Process& p) -> Status {
    if (regName == nullptr) return null_pointer("R-98", "regName");
    if (Status here = needs_feature(p, Feature::AllButIpv, "R-266"); !here) return here;
    return p.state_callbacks().device.set("R-98", regName, callback, args);
  });
}

aclError aclrtSetTsDevice(aclrtTsId tsId) {
  return enter("aclrtSetTsDevice", [&](Process& p) -> Status {
    if (tsId != ACL_TS_ID_AICORE && tsId != ACL_TS_ID_AIVECTOR)
      return bad_value("R-100", "tsId", static_cast<int>(tsId), "0 or 1");
    return needs_feature(p, Feature::AllButIpv, "R-266");
  });
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  return enter("aclrtSetDeviceSatMode", [&](Process& p) -> Status {
    if (Status ready = needs_context(p, "R-101", Feature::AllButIpv); !ready) return ready;
    if (mode != ACL_RT_OVERFLOW_MODE_SATURATION && mode != ACL_RT_OVERFLOW_MODE_INFNAN) {
      return rejected("R-101", "mode", static_cast<int>(mode), "no such mode", "pass 0 or 1");
    }
    const bool saturates = mode == ACL_RT_OVERFLOW_MODE_SATURATION;
    if (!has(p.product().product, saturates ? Feature::Saturation : Feature::InfNan)) {
      return unsupported(
          "R-101",
          fmt::format("{} has only the {} mode", p.product().family, saturates ? "Inf/NaN" : "saturation"),
          saturates ? "pass ACL_RT_OVERFLOW_MODE_INFNAN" : "pass ACL_RT_OVERFLOW_MODE_SATURATION");
    }
    ASSIGN_OR_RETURN(const Context* context, current_context(p, "R-101"));
    p.set_saturation(context->device, mode);
    return done();
  });
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  return enter("aclrtGetDeviceSatMode", [&](Process& p) -> Status {
    if (mode == nullptr) return null_pointer("R-101", "mode");
    if (Status ready = needs_context(p, "R-101", Feature::AllButIpv); !ready) return ready;
    ASSIGN_OR_RETURN(const Context* context, current_context(p, "R-101"));
    return give(mode, p.saturation(context->device));
  });
}

namespace {

bool known_limit(aclrtDeviceLimit limit) {
  return static_cast<uint32_t>(limit) <= ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE;
}

Status limit_available(const Process& p, aclrtDeviceLimit limit) {
  if (Status here = needs_feature(p, Feature::Identity, "R-266"); !here) return here;
  const bool simd =
      limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE || limit == ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE;
  if (!simd && !has(p.product().product, Feature::SimtLimits))
    return unsupported("R-102", fmt::format("{} has no SIMT limits", p.product().family),
                       "leave the limit out, or choose 950 with BELAY_PRODUCT");
  if (p.device_count() == 0) return bad_device("R-102", 0, 0);
  return done();
}

}  // namespace

aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value) {
  return enter("aclrtDeviceSetLimit", [&](Process& p) -> Status {
    if (!known_limit(limit))
      return bad_value("R-102", "limit", static_cast<int>(limit), "a member of aclrtDeviceLimit");
    if (value > UINT32_MAX) return bad_value("R-102", "value", value, "at most 4294967295");
    if (Status available = limit_available(p, limit); !available) return available;
    if (limit == ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE) {
      const size_t most = has(p.product().product, Feature::SimtLimits) ? 128_KiB : 192_KiB;
      const size_t rounded = std::max<size_t>(32_KiB, *round_up(value, 16_KiB));
      if (rounded > most)
        return rejected("R-102", "value", value, fmt::format("more than {}", most), "pass less");
      value = rounded;
    } else if (limit == ACL_RT_DEV_LIMIT_SIMD_PRINTF_FIFO_SIZE_PER_CORE) {
      if (value < 1_KiB || value > 64_MiB)
        return rejected("R-102", "value", value, "outside 1 KB to 64 MB", "pass a value in that range");
      value = *round_up(value, 8);
    }
    p.device_limits[limit].store(value);
    return done();
  });
}

aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t* value) {
  return enter("aclrtDeviceGetLimit", [&](Process& p) -> Status {
    if (value == nullptr) return null_pointer("R-102", "value");
    if (!known_limit(limit))
      return bad_value("R-102", "limit", static_cast<int>(limit), "a member of aclrtDeviceLimit");
    if (Status available = limit_available(p, limit); !available) return available;
    return give(value, p.device_limits[limit].load());
  });
}

aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t*, const aclrtAtomicOperation*, const uint32_t,
                                              int32_t) {
  return enter("aclrtDeviceGetHostAtomicCapabilities", [](Process&) -> Status {
    return unsupported("R-104", "atomic operations are not emulated", "do without them");
  });
}

aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t*, const aclrtAtomicOperation*, const uint32_t, int32_t,
                                             int32_t) {
  return enter("aclrtDeviceGetP2PAtomicCapabilities", [](Process&) -> Status {
    return unsupported("R-104", "atomic operations are not emulated", "do without them");
  });
}
