#include "check/bounds.h"

#include <algorithm>

#include "memory/reader_guard.h"

namespace belay::check {
namespace {

Owned mapped_at(const Memory& memory, const Mappings& mappings, const Mapping& first, std::uintptr_t until) {
  const Extent& extent = *first.extent;
  Owned owned{.object = Object::Mapping,
              .start = first.start,
              .end = first.start + first.asked,
              .end_of_room = first.start + first.bytes,
              .device = extent.side == Side::Host ? kOnHost : extent.device,
              .mapped = true,
              .read_only = !first.writable};
  while (owned.end == owned.end_of_room && owned.end < until && memory.is_device_address(owned.end)) {
    const Mapping* next = mappings.at(owned.end);
    if (next == nullptr || next->inside != first.inside) break;
    owned.end = next->start + next->asked;
    owned.end_of_room = next->start + next->bytes;
  }
  return owned;
}

Owned whole(Object object, std::uintptr_t start, std::size_t asked, std::size_t room) {
  return {.object = object, .start = start, .end = start + asked, .end_of_room = start + room};
}

// How many bytes of a touch lie at or after an address; rows do not overlap (M-306).
struct After {
  std::uint32_t row;
  std::size_t bytes;
};
After after(const observe::Touch& touch, std::uintptr_t address) {
  const std::size_t before = address - std::min(address, touch.address);
  std::uint32_t row = 0;
  if (touch.rows > 1 && before >= touch.bytes)
    row = static_cast<std::uint32_t>((before - touch.bytes) / touch.pitch + 1);
  if (row >= touch.rows) return {touch.rows, 0};
  const std::uintptr_t start = touch.address + row * touch.pitch;
  const std::size_t inside = address - std::min(address, start);
  return {row, touch.bytes - std::min(inside, touch.bytes) + (touch.rows - 1 - row) * touch.bytes};
}

}  // namespace

std::optional<Owned> owned_at(Memory& memory, std::uintptr_t address, std::uintptr_t until) {
  if (memory.is_plain(address)) {
    if (const std::optional<Block> block = memory.map().find(address)) {
      Owned owned = whole(Object::DeviceBlock, block->start, block->asked, block->footprint);
      owned.device = block->device;
      owned.read_only = block->read_only;
      return owned;
    }
  }
  if (memory.is_device_address(address)) {
    const ReaderGuard inside;
    const Mapping* mapping = memory.mappings().at(address);
    if (mapping == nullptr) return std::nullopt;
    return mapped_at(memory, memory.mappings(), *mapping, until);
  }
  if (const std::optional<ManagedMemory::Range> range = memory.managed().find(address))
    return whole(Object::Managed, range->start, range->asked, range->bytes);
  // Registered memory is part of something larger that the program has.
  if (const std::optional<HostFacts> block = memory.host().block_around(address))
    return whole(Object::HostBlock, block->start, block->asked, block->bytes);
  return std::nullopt;
}

std::optional<Owned> owned_by(Memory& memory, const observe::Touch& touch) {
  if (touch.extent == 0 && !touch.on_device) return std::nullopt;  // host memory of the program
  return owned_at(memory, touch.address, end_of(touch));
}

OutOfBounds out_of_bounds(Memory& memory, const observe::Touch& touch, const Owned& owned) {
  const After left = after(touch, owned.end), in_neighbour = after(touch, owned.end_of_room);
  OutOfBounds found{left.row, left.bytes, 0, std::nullopt, touch.address >= owned.end};
  if (in_neighbour.bytes == 0) return found;
  const std::uintptr_t first = std::max(owned.end_of_room, touch.address + in_neighbour.row * touch.pitch);
  found.neighbour = owned_at(memory, first, first);
  if (found.neighbour) found.into_neighbour = in_neighbour.bytes;
  return found;
}

}  // namespace belay::check
