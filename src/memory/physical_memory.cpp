#include "memory/physical_memory.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "memory/device_figures.h"
#include "platform/pinned.h"

namespace belay {

PhysicalMemory::PhysicalMemory(HeapMap& map, BackingStore& backing, machine::Machine& machine,
                               std::vector<std::uint32_t> visible, Freed freed)
    : map_{map},
      backing_{backing},
      machine_{machine},
      visible_{std::move(visible)},
      freed_{std::move(freed)} {}

namespace {
std::size_t kind_of(const Extent& extent) { return quota_kind(extent.page, extent.p2p); }
// No sum: a program may ask for nearly all there is of numbers.
std::size_t segments_of(std::size_t bytes) {
  return bytes / kSegmentBytes + (bytes % kSegmentBytes == 0 ? 0 : 1);
}
}  // namespace

void PhysicalMemory::open(Room& room) {
  if (room.opened) return;
  if (&room == &host_room_) {
    backing_.open_host(kSegments * kSegmentBytes);
  } else {
    backing_.open_physical(kSegments * kSegmentBytes);
  }
  room.segments.give(0, kSegments);
  room.opened = true;
}

// A segment has pages of one kind, so that each kind has runs of its own; what fills whole segments gives
// them back.
std::optional<std::size_t> PhysicalMemory::Room::take_out(Page page, std::size_t bytes) {
  if (bytes >= kSegmentBytes) {
    const std::optional<std::uintptr_t> first = segments.take(segments_of(bytes));
    return first ? std::optional<std::size_t>{*first * kSegmentBytes} : std::nullopt;
  }
  RunMap& of_page = runs[static_cast<std::size_t>(page)];
  if (const std::optional<std::uintptr_t> run = of_page.take(bytes)) return *run;
  const std::optional<std::uintptr_t> segment = segments.take(1);
  if (!segment) return std::nullopt;
  of_page.give(*segment * kSegmentBytes + bytes, kSegmentBytes - bytes);
  return *segment * kSegmentBytes;
}

void PhysicalMemory::Room::put_back(Page page, std::size_t offset, std::size_t bytes) {
  if (bytes >= kSegmentBytes) {
    segments.give(offset / kSegmentBytes, segments_of(bytes));
  } else {
    runs[static_cast<std::size_t>(page)].give(offset, bytes);
  }
}

std::optional<std::size_t> PhysicalMemory::Room::take(Page page, std::size_t bytes) {
  if (spare.bytes == bytes && spare.page == page) {
    spare.bytes = 0;
    return spare.offset;
  }
  if (const std::optional<std::size_t> found = take_out(page, bytes)) return found;
  if (spare.bytes == 0) return std::nullopt;
  put_back(spare.page, spare.offset, std::exchange(spare.bytes, 0));
  return take_out(page, bytes);
}

void PhysicalMemory::Room::give(Page page, std::size_t offset, std::size_t bytes) {
  if (spare.bytes != 0) put_back(spare.page, spare.offset, spare.bytes);
  spare = {offset, bytes, page};
}

ExtentPtr PhysicalMemory::allocate(std::uint32_t device, Page page, std::size_t bytes, bool p2p,
                                   std::uint8_t module, bool* granted) {
  std::shared_ptr<Held> made = empty_pointer();
  const std::lock_guard lock{mutex_};
  free_what_nobody_holds();
  open(device_room_);
  Extent extent{.start = {&backing_.physical(), 0},
                .bytes = bytes,
                .device = device,
                .page = page,
                .p2p = p2p,
                .module = module,
                .number = observe::next_serial()};
  machine::PageQuota& quota = quota_of(extent);
  const std::size_t kind = kind_of(extent);
  const bool at_hand =
      machine::take_credit(quota.shard(machine::PageQuota::kCommonShard).of[kind].word, bytes / 4_KiB);
  if (!at_hand && !quota.take(kind, bytes / 4_KiB)) return nullptr;
  if (granted != nullptr) *granted = !at_hand;
  const std::optional<std::size_t> offset = device_room_.take(page, bytes);
  extent.start.offset = offset.value_or(0);
  if (!offset || backing_.on_alloc(extent.start, bytes, page, false) != Backed::Yes) {
    if (offset) device_room_.give(page, *offset, bytes);
    quota.give(kind, bytes / 4_KiB);
    return nullptr;
  }
  made->extent() = extent;
  return made;
}

ExtentPtr PhysicalMemory::allocate_on_host(std::size_t bytes, bool p2p, std::uint8_t module) {
  std::shared_ptr<Held> made = empty_pointer();
  const std::lock_guard lock{mutex_};
  open(host_room_);
  const std::optional<std::size_t> offset = host_room_.take(Page::Huge2M, bytes);
  if (!offset) return nullptr;
  made->extent() = Extent{.start = {&backing_.host(), *offset},
                          .bytes = bytes,
                          .side = Side::Host,
                          .page = Page::Huge2M,
                          .p2p = p2p,
                          .module = module,
                          .number = observe::next_serial()};
  return made;
}

// Its pages pass to a row of the machine.
std::optional<machine::ExtentName> PhysicalMemory::add_row(const Extent& extent, std::optional<Block> block) {
  // Whatever may throw comes before the pages have passed.
  held_by_others_.reserve(held_by_others_.size() + shared_.size() + 1);
  auto entry = std::map<Key, Shared>{{{0, false}, Shared{{}, extent, block}}}.extract({0, false});
  auto address = std::map<std::uintptr_t, std::uint64_t>{{block ? block->start : 0, 0}}.extract(
      block ? block->start : 0);
  if (!backing_.begin_sharing(extent.start, extent.bytes)) return std::nullopt;
  const std::size_t pages = extent.side == Side::Host ? 0 : extent.bytes / 4_KiB;
  const std::optional<machine::ExtentName> name =
      machine_.extents().make(quota_of(extent), kind_of(extent), pages, machine::PageQuota::kCommonShard,
                              {extent.start.offset, extent.bytes, extent.start.file->bytes().name()});
  if (!name) {
    backing_.end_sharing(extent.start, extent.bytes);
    return std::nullopt;
  }
  entry.key() = {name->serial, false};
  entry.mapped().name = *name;
  entry.mapped().extent.serial = name->serial;
  shared_.insert(std::move(entry));
  if (block) {
    address.mapped() = name->serial;
    blocks_.insert(std::move(address));
  }
  return name;
}

std::optional<machine::ExtentName> PhysicalMemory::share(const ExtentPtr& extent) {
  const std::lock_guard lock{mutex_};
  free_what_nobody_holds();
  if (closed_) return std::nullopt;
  if (extent->serial != 0) return shared_.at({extent->serial, false}).name;
  const std::optional<machine::ExtentName> name = add_row(*extent, {});
  if (name) extent->serial = name->serial;
  return name;
}

std::optional<machine::ExtentName> PhysicalMemory::share(std::uintptr_t start) {
  const std::lock_guard lock{mutex_};
  free_what_nobody_holds();
  const std::optional<Block> block = map_.leave_shortcut(start);
  if (!block) return std::nullopt;
  if (const auto found = blocks_.find(start); found != blocks_.end())
    return shared_.at({found->second, false}).name;
  const std::optional<machine::ExtentName> name =
      add_row({.start = {&backing_.plain(), start - map_.window().base},
               .bytes = block->footprint,
               .device = block->device,
               .page = block->page,
               .p2p = block->p2p,
               .module = block->module},
              block);
  if (!name) map_.rejoin_shortcut(start);
  return name;
}

ExtentPtr PhysicalMemory::import(const Import& wish, int* why) {
  const auto& [name, device, page, p2p, module, borrows] = wish;
  const Key key{name.serial, borrows};
  std::shared_ptr<Held> made = empty_pointer();
  const std::lock_guard lock{mutex_};
  if (closed_) return nullptr;
  if (const auto found = shared_.find(key); found != shared_.end()) {
    ++found->second.users;
    made->extent() = found->second.extent;
    made->device = device;
    made->side = Side::Device;
    return made;
  }
  auto entry = std::map<Key, Shared>{{key, Shared{name, {}, {}, true}}}.extract(key);
  Shared& shared = entry.mapped();
  shared.extent.borrowed = borrows;
  const std::optional<machine::HeldExtent> held = machine_.extents().hold(name, shared.as());
  if (!held) return nullptr;
  BackingFile* file = nullptr;
  if (const auto own = shared_.find({name.serial, false}); borrows && own != shared_.end()) {
    file = own->second.extent.start.file;  // already open, or our own
    shared.imported = own->second.imported;
    if (shared.imported) backing_.use_import(*file);
  } else {
    for (const platform::FileName& each : machine_.extents().files(name)) {
      file = backing_.import(each);
      if (file != nullptr) break;
      if (why != nullptr && *why == 0) *why = errno;
    }
  }
  if (file == nullptr) {
    machine_.extents().release(name, shared.as());
    return nullptr;
  }
  shared.extent = {.start = {file, held->offset},
                   .bytes = held->bytes,
                   .device = device,
                   .page = page,
                   .p2p = p2p,
                   .module = module,
                   .serial = name.serial,
                   .borrowed = borrows,
                   .number = observe::next_serial()};
  if (shared.imported) {
    backing_.renew_import(shared.extent.start, shared.extent.bytes);
    if (file->bytes().is_file()) machine_.extents().show_file(name, file->bytes().descriptor());
  }
  made->extent() = shared.extent;
  shared_.insert(std::move(entry));
  return made;
}

void PhysicalMemory::unlock(const Extent& extent) {
  if (std::byte* place = backing_.view_of(extent.start, extent.bytes))
    platform::unlock_pages(place, extent.bytes);
}

void PhysicalMemory::end(const Extent& extent) {
  const std::lock_guard lock{mutex_};
  if (closed_ || extent.bytes == 0) return;  // of a machine that was left, or never filled in
  if (extent.serial != 0) {
    let_go({extent.serial, extent.borrowed});
    return;
  }
  if (extent.side == Side::Host) unlock(extent);
  backing_.on_free(extent.start, extent.bytes, false);
  room_of(extent).give(extent.page, extent.start.offset, extent.bytes);
  if (extent.side == Side::Device) quota_of(extent).give(kind_of(extent), extent.bytes / 4_KiB);
}

bool PhysicalMemory::end_block(const Block& block) {
  const std::lock_guard lock{mutex_};
  const auto found = blocks_.find(block.start);
  if (found == blocks_.end()) return false;
  const std::uint64_t serial = found->second;
  blocks_.erase(found);
  let_go({serial, false});
  return true;
}

// The pages of what is shared belong to its row, and go with it or pass to another.
void PhysicalMemory::let_go(const Key& key) {
  const auto found = shared_.find(key);
  if (found == shared_.end()) return;  // all was closed meanwhile
  if (--found->second.users != 0) return;
  const Shared shared = std::move(found->second);
  shared_.erase(found);
  if (shared.imported) backing_.drop_import(*shared.extent.start.file);  // before its range is another's
  machine_.extents().release(shared.name, shared.as());
  if (!shared.imported && !shared.extent.borrowed) held_by_others_.push_back(shared);
  free_what_nobody_holds();
}

void PhysicalMemory::free_what_nobody_holds() {
  std::erase_if(held_by_others_, [&](const Shared& each) {
    if (machine_.extents().lives(each.name)) return false;
    free_range(each);
    return true;
  });
  others_hold_.store(!held_by_others_.empty(), std::memory_order_relaxed);
}

void PhysicalMemory::free_range(const Shared& shared) {
  const Extent& extent = shared.extent;
  backing_.end_sharing(extent.start, extent.bytes);
  if (extent.side == Side::Host) unlock(extent);
  backing_.on_free(extent.start, extent.bytes, shared.block && shared.block->read_only);
  if (shared.block) {
    freed_(*shared.block);
  } else {
    room_of(extent).give(extent.page, extent.start.offset, extent.bytes);
  }
}

void PhysicalMemory::close() {
  const std::lock_guard lock{mutex_};
  for (const auto& [key, shared] : shared_) machine_.extents().release(shared.name, shared.as());
  shared_.clear();
  blocks_.clear();
  held_by_others_.clear();
  closed_ = true;
}

}  // namespace belay
