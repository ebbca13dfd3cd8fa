#include "memory/physical_memory.h"

#include "memory/device_figures.h"

namespace belay {

// A segment has pages of one kind, so that each kind has runs of its own; what fills whole segments gives
// them back.
std::optional<std::size_t> PhysicalMemory::take(Page page, std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  if (!opened_) {
    backing_.open_physical(kSegments * kSegmentBytes);
    segments_.give(0, kSegments);
    opened_ = true;
  }
  if (bytes >= kSegmentBytes) {
    const std::optional<std::uintptr_t> first = segments_.take((bytes + kSegmentBytes - 1) / kSegmentBytes);
    return first ? std::optional<std::size_t>{*first * kSegmentBytes} : std::nullopt;
  }
  RunMap& runs = runs_[static_cast<std::size_t>(page)];
  if (const std::optional<std::uintptr_t> run = runs.take(bytes)) return *run;
  const std::optional<std::uintptr_t> segment = segments_.take(1);
  if (!segment) return std::nullopt;
  runs.give(*segment * kSegmentBytes + bytes, kSegmentBytes - bytes);
  return *segment * kSegmentBytes;
}

void PhysicalMemory::give(Page page, std::size_t offset, std::size_t bytes) {
  const std::lock_guard lock{mutex_};
  if (bytes >= kSegmentBytes) {
    segments_.give(offset / kSegmentBytes, (bytes + kSegmentBytes - 1) / kSegmentBytes);
  } else {
    runs_[static_cast<std::size_t>(page)].give(offset, bytes);
  }
}

ExtentPtr PhysicalMemory::allocate(std::uint32_t device, machine::PageQuota& quota, Page page,
                                   std::size_t bytes, bool p2p, std::uint8_t module) {
  const std::size_t kind = quota_kind(page, p2p);
  if (!quota.take(kind, bytes / 4_KiB)) return nullptr;
  const std::optional<std::size_t> offset = take(page, bytes);
  const Position start{&backing_.physical(), offset.value_or(0)};
  if (!offset || backing_.on_alloc(start, bytes, page, false) != Backed::Yes) {
    if (offset) give(page, *offset, bytes);
    quota.give(kind, bytes / 4_KiB);
    return nullptr;
  }
  const auto end = [this, &quota, kind](const Extent* extent) {
    backing_.on_free(extent->start, extent->bytes, false);
    give(extent->page, extent->start.offset, extent->bytes);
    quota.give(kind, extent->bytes / 4_KiB);
    delete extent;
  };
  return {new Extent{start, bytes, device, page, p2p, module}, end};
}

}  // namespace belay
