// What a share of memory says, in the words of the registry (machine/shares.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_rt.h"
#include "machine/extents.h"
#include "machine/shares.h"
#include "memory/extent.h"

namespace belay {

struct SharedWords {
  machine::ExtentName extent{};  // first, as the registry wants it
  std::size_t offset = 0, bytes = 0;
  // Where it is, as its maker said: on a device of the machine, or on the host, maybe on a node of that.
  Side side = Side::Device;
  std::uint32_t device = 0;
  bool on_node = false;
  std::int32_t node = 0;
  Page page = Page::Normal;
  bool p2p = false;
  std::uint8_t module = 0;
  aclrtMemAttr reported{};    // of a handle
  std::size_t asked = 0;      // of a handle
  machine::ShareId next = 0;  // of a key that leads to several extents: where it goes on

  machine::ShareWords pack() const {
    const auto byte = [](std::uint64_t value, unsigned shift) { return (value & 0xFF) << shift; };
    const std::uint64_t kind = byte(device, 0) | byte(static_cast<std::uint64_t>(page), 8) |
                               byte(module, 16) | byte(static_cast<std::uint64_t>(reported), 24) |
                               byte(side == Side::Host ? 1 : 0, 32) | byte(p2p ? 1 : 0, 40) |
                               byte(on_node ? 1 : 0, 48) | byte(static_cast<std::uint64_t>(node), 56);
    return {extent.index, extent.serial, offset, bytes, kind, next != 0 ? next : asked};
  }
  static SharedWords unpack(const machine::ShareWords& words, machine::ShareKind kind) {
    const auto byte = [&](unsigned shift) { return static_cast<std::uint8_t>(words[4] >> shift); };
    const bool handle = kind == machine::ShareKind::Handle || kind == machine::ShareKind::Fabric;
    return {.extent = {static_cast<std::size_t>(words[0]), words[1]},
            .offset = words[2],
            .bytes = words[3],
            .side = byte(32) != 0 ? Side::Host : Side::Device,
            .device = byte(0),
            .on_node = byte(48) != 0,
            .node = static_cast<std::int8_t>(byte(56)),
            .page = static_cast<Page>(byte(8)),
            .p2p = byte(40) != 0,
            .module = byte(16),
            .reported = static_cast<aclrtMemAttr>(byte(24)),
            .asked = handle ? words[5] : 0,
            .next = handle ? 0 : words[5]};
  }
};

}  // namespace belay
