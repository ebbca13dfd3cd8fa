#include "runtime/peer_mapping.h"

#include "base/words.h"
#include "memory/transfer.h"
#include "runtime/memory_tasks.h"

namespace belay {

Status map_for_peer(Process& process, void* start, std::size_t size, std::int32_t peer, std::uint64_t flags) {
  if (start == nullptr) return null_pointer("V-335", "devPtr");
  if (size == 0) return bad_value("V-335", "size", size, "at least 1");
  if (flags != 0) return bad_value("V-335", "flags", flags, "0");
  if (Status here = needs_feature(process, Feature::PeerMapping, "V-23"); !here) return here;
  if (!process.has_device(peer)) return bad_device("V-336", peer, process.device_count());
  Memory& memory = process.memory();
  const Location where = memory.locate(start);
  if (where.is_pageable() || where.is(Location::Kind::Managed))
    return rejected("V-337", "devPtr", hex(start), "it is no address of device memory",
                    "pass memory of aclrtMalloc");
  if (!where.is_device() || where.block.mapped || where.block.read_only) {
    return driver_refuses("V-337",
                          fmt::format("{}: {}", hex(start),
                                      !where.is_device()      ? memory.describe(where.address)
                                      : where.block.read_only ? "it is read-only"
                                                              : "it is mapped virtual memory"),
                          "pass memory of aclrtMalloc that may be written");
  }
  const std::uint32_t owner = where.device();
  const auto other = static_cast<std::uint32_t>(peer);
  if (Status alive = Transfer(memory, owner).check_fill(where, size, "V-337"); !alive) return alive;
  if (owner == other || memory.peers().enabled(owner, other) || memory.peers().enabled(other, owner))
    return done();
  return driver_refuses(
      "V-338", fmt::format("device {} has no access to the memory of device {}", other, owner),
      fmt::format("with device {} current, call aclrtDeviceEnablePeerAccess({}, 0) first", other, owner));
}

}  // namespace belay
