#include "memory/memory.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/words.h"
#include "memory/history.h"
#include "memory/reader_guard.h"
#include "memory/thread_cache.h"
#include "observe/lives.h"
#include "observe/observe.h"
#include "platform/threads.h"

namespace belay {
namespace {

constexpr std::size_t kMediaWindow = 16_GiB;  // M-400

platform::AddressRange device_window(HostAccess access) {
  platform::AddressRange window =
      platform::reserve_addresses(platform::kDeviceWishes, access == HostAccess::Allow);
  const std::uintptr_t aligned = round_up(window.base, kHeapBytes).value_or(0);
  const std::size_t lost = aligned - window.base;
  window.base = aligned;
  window.bytes = window.bytes > lost ? round_down(window.bytes - lost, kHeapBytes) : 0;
  return window;
}

bool is_media(Origin origin) { return origin == Origin::MediaV1 || origin == Origin::MediaV2; }

// Where pages of the host are taken or mapped with each block, no thread can have them at hand.
bool has_fast_path(const BackingSettings& backing) {
  return backing.mode == Backing::None ||
         (backing.access == HostAccess::Deny && backing.pages != Pages::Hugetlb);
}
}  // namespace

Memory::Memory(const MemorySettings& settings, machine::Machine& machine)
    : number_{FastPathState::begin()},
      fast_rules_{has_fast_path(settings.backing) ? FastRules{*settings.product, settings.form}
                                                  : FastRules{}},
      settings_{settings},
      machine_{machine},
      map_{device_window(settings.backing.access)},
      host_room_{machine},
      backing_{map_, map_.window().bytes, map_.window().reserved ? map_.window().base : 0, settings.backing,
               host_room_},
      physical_{map_, backing_, machine, settings.visible,
                [this](const Block& block) {
                  devices_[block.device]->return_range(block.start, block.footprint, block.page,
                                                       block.origin);
                }},
      mappings_{map_},
      host_{host_room_, settings.pin, settings.host_node, settings.backing.fresh,
            settings.backing.keep_bytes},
      watch_{number_},
      virtual_{{map_, backing_, physical_, mappings_, host_room_, host_, machine, watch_, settings.pin,
                settings.product, settings.visible}},
      keys_{*this, machine},
      managed_{{[this](std::uint32_t device) { return charge_managed(device, true); },
                [this](std::uint32_t device) { charge_managed(device, false); }}} {
  map_.on_carve([this](std::size_t index, HeapClass heap_class) {
    backing_.on_carve(index, heap_class == HeapClass::Huge2M ? Page::Huge2M : Page::Normal);
  });
  for (std::uint32_t i = 0; i < settings.devices(); ++i) {
    devices_.push_back(std::make_unique<DeviceMemory>());
    devices_.back()->open(i, machine.quota(settings.visible[i]), map_, backing_, number_);
  }
  listeners_changed();
}

Memory::~Memory() { FastPathState::end(number_); }

void Memory::listeners_changed() {
  const std::uint64_t noted = (observe::wanted(observe::kBlocks) ? FastPathState::kListening : 0) |
                              (observe::keeps_sites() ? FastPathState::kSited : 0);
  const std::uint64_t now = noted == 0 || observe::blocks_are_plain() ? noted : FastPathState::kReason;
  const std::uint64_t before = listened_to_.exchange(now);
  if (now == before) return;
  FastPathState::add(number_, now);
  FastPathState::remove(number_, before);
  if (now != 0)
    (void)platform::barrier_on_all_threads();  // see fastpath/fast_path.h; where there is none, one block in
                                               // a million is missed
}

Memory::Identity Memory::identify(const Location& at) {
  if (at.in_window && !at.is_nothing()) {
    if (is_plain(at.address)) {
      const Block& block = at.block;
      const std::uint64_t serial = block.serial != 0 ? block.serial : map_.name(block.start);
      const std::uint64_t offset = at.address - block.start;
      if (serial != 0)
        return {serial, offset, block.read_only || offset > block.asked ? 0 : block.asked - offset};
    }
    const ReaderGuard inside;
    if (const Mapping* mapping = mappings_.at(at.address))
      return {mapping->extent->number, mapping->offset + (at.address - mapping->start)};
  } else if (at.is(Location::Kind::Managed)) {
    if (const std::optional<ManagedMemory::Range> range = managed_.find(at.address))
      return {range->serial, at.address - range->start};
  } else if (const std::optional<HostRange> range = host_.find(at.address)) {
    const std::uint64_t offset = at.address - range->start;
    return {range->serial, offset, offset > range->asked ? 0 : range->asked - offset};
  }
  return {0, at.address};
}

void Memory::hold_freed_addresses(bool hold) {
  const std::lock_guard lock{reuse_};
  holds_addresses_ = hold;
  apply_reuse();
}

void Memory::set_quarantine(std::size_t bytes) {
  const std::lock_guard lock{reuse_};
  quarantine_ = bytes;
  apply_reuse();
}

void Memory::apply_reuse() {
  const std::size_t most = holds_addresses_ ? SIZE_MAX : quarantine_;
  const bool delays = most != 0;
  const bool changes = delays_reuse_.load() != delays;
  if (changes && delays) {
    delays_reuse_.store(true);
    FastPathState::add(number_, FastPathState::kReason);  // threads keep what they free otherwise
    (void)platform::barrier_on_all_threads();             // see fastpath/fast_path.h
  }
  for (const std::unique_ptr<DeviceMemory>& device : devices_) device->set_quarantine(most);
  mappings_.set_quarantine(most);
  managed_.set_quarantine(most);
  if (changes && !delays) {
    FastPathState::remove(number_, FastPathState::kReason);
    delays_reuse_.store(false);
  }
}

ThreadCache* Memory::cache() { return fast_rules_.any() ? ThreadCache::ready_for(*this) : nullptr; }

Result<void*> Memory::allocate(std::uint32_t device, const Plan& plan, std::uint8_t module, Origin origin,
                               std::uintptr_t wished) {
  const bool counted = is_media(origin) && has(settings_.product->product, Feature::MediaWindow16G);
  if (counted) {
    std::size_t used = media_bytes_.load();
    do {
      if (plan.footprint > kMediaWindow - used) {
        return out_of_memory(
            "M-400",
            fmt::format(
                "module DVPP asked for {} bytes; this process holds {} of the {} that media memory may take",
                plan.asked, amount(used), amount(kMediaWindow)),
            "the media address space of a process is used up", "free media memory first");
      }
    } while (!media_bytes_.compare_exchange_weak(used, used + plan.footprint));
  }
  physical_.look_after_others();
  Result<std::uintptr_t> start = devices_[device]->allocate(plan, module, origin, cache(), wished);
  if (!start) {
    if (counted) media_bytes_.fetch_sub(plan.footprint);
    return start.take_refusal();
  }
  return reinterpret_cast<void*>(*start);
}

void Memory::set_device_of_thread(std::uint64_t state, std::uint32_t device) {
  if (ThreadCache* mine = cache()) mine->set_device(FastPathState::epoch_alone(state), device);
}

Result<void*> Memory::allocate_host(std::uint32_t device, const Plan& plan, std::uint8_t module,
                                    bool unified_address) {
  if (host_is_device(settings_.form)) return allocate(device, plan, module, Origin::Host);  // M-438
  return host_.allocate(plan, unified_address);
}

void Memory::end_block(const Block& block, bool swept) {
  if (is_media(block.origin) && has(settings_.product->product, Feature::MediaWindow16G))
    media_bytes_.fetch_sub(block.footprint);
  if (observe::keeps_blocks()) [[unlikely]]
    devices_[block.device]->tell_freed(block, swept);  // before its place can be another's
  if (block.in_use && !swept) [[unlikely]]
    devices_[block.device]->tell_given_back(block);
  if (block.shared) keys_.end_block(block.start);
  const bool shared = block.shared && physical_.end_block(block);
  devices_[block.device]->release(block, delays_reuse_.load(std::memory_order_acquire) ? nullptr : cache(),
                                  shared);
  watch_.tell(block.start, block.footprint);
}

bool Memory::charge_managed(std::uint32_t device, bool take) {
  constexpr std::uint64_t kPages = kManagedPage / 4_KiB;
  const std::size_t kind = quota_kind(Page::Huge2M, false);
  if (!take) {
    devices_[device]->quota().give(kind, kPages);
    return true;
  }
  if (!devices_[device]->quota().take(kind, kPages)) return false;
  devices_[device]->note_taken(Page::Huge2M, false);
  return true;
}

Status Memory::allocate_physical(std::uint64_t handle, const PhysicalPlan& plan) {
  ASSIGN_OR_RETURN(const VirtualMemory::Taken taken, virtual_.allocate(handle, plan));
  if (plan.side == Side::Host) return done();
  if (taken != VirtualMemory::Taken::Short) {
    devices_[plan.device]->note_taken(plan.page, plan.p2p, taken == VirtualMemory::Taken::More);
    return done();
  }
  Plan as_block{};
  as_block.asked = plan.asked;
  as_block.footprint = plan.bytes;
  as_block.page = as_block.when_short = plan.page;
  as_block.p2p = plan.p2p;
  const DeviceMemory& device = *devices_[plan.device];
  const bool of_kernel = backing_.pool_is_limit() && device.pool().free >= plan.bytes;
  return of_kernel ? device.pool_is_empty(as_block, "V-118") : device.shortage(as_block, "V-118");
}

std::string Memory::describe(std::uintptr_t address) const {
  if (const std::optional<std::string> words = virtual_.describe(address)) return *words;
  if (managed_.covers(address)) {
    const std::optional<ManagedMemory::Range> range = managed_.find(address);
    return range ? fmt::format("it points {} bytes into the managed memory {} of {} bytes",
                               address - range->start, hex(range->start), range->asked)
                 : "it is an address for managed memory, but none is alive there";
  }
  if (map_.contains(address)) {
    if (const std::optional<Block> block = map_.find(address)) {
      return fmt::format("it points {} bytes into the block {} of {} bytes on device {}, not at its start",
                         address - block->start, hex(block->start), block->asked, block->device);
    }
    return "it is a device address, but no live block is there: freed already, lost in a device reset, or "
           "never allocated";
  }
  if (host_.is_device_alias(address))
    return "it is a device address of registered host memory, which belongs to its registration";
  return "it is not device memory: it comes from another allocator";
}

Refusal Memory::freed_wrongly(Refusal refusal, std::uintptr_t address) const {
  std::vector<Happened> before = history_at(*this, address);
  const bool device = is_device_address(address);
  const std::optional<Block> block = device ? find(address) : std::nullopt;
  const std::optional<HostRange> range = device ? std::nullopt : host_.find(address);
  const std::optional<ManagedMemory::Range> managed = managed_.find(address);
  if (block || range || managed) {
    const std::uintptr_t start = block ? block->start : range ? range->start : managed->start;
    return as_misuse(std::move(refusal),
                     start == address ? Misuse::FreedByWrongFunction : Misuse::FreedInside,
                     std::move(before));
  }
  // Memory that was registered once was never ours.
  if (const auto ended = observe::ended_at_address(address); ended && ended->object == Object::Registration)
    return as_misuse(std::move(refusal), Misuse::FreedForeign);
  const Misuse misuse = before.size() > 1 || ended_around(address) ? Misuse::FreedTwice
                        : device                                   ? Misuse::UsedUnallocated
                                                                   : Misuse::FreedForeign;
  return as_misuse(std::move(refusal), misuse, std::move(before));
}

Refusal Memory::used_wrongly(Refusal refusal, std::uintptr_t address) const {
  std::vector<Happened> before = history_at(*this, address);
  const bool freed = before.size() > 1;
  return as_misuse(std::move(refusal), freed ? Misuse::UsedAfterFree : Misuse::UsedUnallocated,
                   std::move(before));
}

Refusal Memory::asked_after_free(Refusal refusal, std::uintptr_t address) const {
  if (!is_device_address(address) && !managed_.covers(address)) return refusal;
  refusal = used_wrongly(std::move(refusal), address);
  if (refusal->misuse != Misuse::UsedAfterFree) refusal->misuse = Misuse::None;
  return refusal;
}

Status Memory::free_pinned(void* pointer) {
  Status released = host_.release(pointer);
  if (released) return released;
  return freed_wrongly(released.take_refusal(), reinterpret_cast<std::uintptr_t>(pointer));
}

Status Memory::free_device(void* pointer) {
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  if (const std::optional<Block> block = map_.withdraw(start)) {
    end_block(*block);
    return done();
  }
  if (host_.owns(start)) return free_pinned(pointer);  // M-116: the driver does not look which kind it is
  if (managed_.covers(start) && managed_.release(start)) return done();  // V-277
  return freed_wrongly(rejected("M-111", "devPtr", hex(start), describe(start),
                                "free each block once, with the address that its allocation returned"),
                       start);
}

Status Memory::free_host(void* pointer) {
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  if (!is_device_address(start)) return free_pinned(pointer);
  if (const std::optional<Block> block = map_.find(start);
      block && block->origin == Origin::Host && block->start == start) {
    if (const std::optional<Block> ours = map_.withdraw(start)) {
      end_block(*ours);
      return done();
    }
  }
  const std::optional<Block> around = find(start);
  if (around && around->origin != Origin::Host) {
    return freed_wrongly(
        rejected("M-188", "hostPtr", hex(start), "it is device memory", "free device memory with aclrtFree"),
        start);
  }
  return freed_wrongly(rejected("M-188", "hostPtr", hex(start), describe(start),
                                "free each block once, with the address that its allocation returned"),
                       start);
}

Status Memory::free_media(void* pointer) {
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  if (const std::optional<Block> block = map_.withdraw(start)) {
    end_block(*block);
    return done();
  }
  return freed_wrongly(rejected("M-398", "devPtr", hex(start), describe(start),
                                "pass the address that the media allocator returned, once"),
                       start);
}

void Memory::end_blocks(std::uint32_t device, bool host_too) {
  std::vector<std::uintptr_t> starts;
  map_.for_each_block(device, [&](const Block& block) {
    if (host_too || block.origin != Origin::Host) starts.push_back(block.start);
  });
  for (const std::uintptr_t start : starts) {
    if (const std::optional<Block> block = map_.withdraw(start)) end_block(*block, true);
  }
}

void Memory::close_device(std::uint32_t device) {
  keys_.close_device(device);
  end_blocks(device, false);
  virtual_.close_device(device);
  managed_.close_device(device);
  peers_.drop(device);
}

void Memory::close() {
  keys_.close();
  for (std::uint32_t device = 0; device < settings_.devices(); ++device) end_blocks(device, true);
  virtual_.close();
  managed_.close();
  FastPathState::end(number_);
  host_.close();
  backing_.close();
  physical_.close();  // others may use the ranges from here on
  platform::release_addresses(map_.window());
}

Location Memory::locate_bytes(std::uintptr_t address) const {
  using Kind = Location::Kind;
  if (is_device_address(address)) {
    const std::optional<Block> block = find(address);
    if (!block) return {address, Kind::Unallocated, true, {}};
    return {address, block->origin == Origin::Host ? Kind::Pinned : Kind::Device, true, *block};
  }
  if (managed_.covers(address))
    return {address, managed_.find(address) ? Kind::Managed : Kind::Unallocated, false, {}};
  return {address, host_.is_device_alias(address) ? Kind::Alias : Kind::Pageable, false, {}};
}

std::optional<Block> Memory::find(std::uintptr_t address) const {
  if (map_.contains(address)) {
    if (std::optional<Block> block = map_.find(address)) return block;
  }
  const ReaderGuard inside;
  const Mapping* mapping = mappings_.at(address);
  if (mapping == nullptr) return std::nullopt;
  if (mapping->lease != nullptr && !machine_.shares().stands(*mapping->lease)) return std::nullopt;
  const Extent& extent = *mapping->extent;
  const bool on_host = extent.side == Side::Host;
  return Block{.start = mapping->start,
               .asked = mapping->bytes,
               .footprint = mapping->bytes,
               .device = on_host ? kOnHost : extent.device,
               .page = extent.page,
               .origin = on_host ? Origin::Host : Origin::Malloc,
               .module = extent.module,
               .read_only = !mapping->writable,
               .p2p = extent.p2p,
               .leak_reported = false,
               .serial = mapping->serial,
               .mapped = true,
               .imported = mapping->physical == nullptr || mapping->physical->imported != 0,
               .owner_may_use = mapping->owner.load(std::memory_order_relaxed),
               .devices = mapping->devices.load(std::memory_order_relaxed)};
}

Location Memory::locate(std::uintptr_t address) const {
  Location found = locate_bytes(address);
  if (found.is_pageable() && host_.find(address)) found.kind = Location::Kind::Pinned;
  return found;
}

Memory::Piece Memory::piece_at(std::uintptr_t address, std::size_t bytes) {
  if (is_plain(address)) {
    // Blocks may end where a mapping begins.
    std::size_t here = kHeapBytes - address % kHeapBytes;
    while (here < bytes && is_plain(address + here)) here += kHeapBytes;
    return {plain(address), std::min(bytes, here)};
  }
  const Mapping* mapping = mappings_.at(address);
  if (mapping == nullptr) return {{}, 0};
  return {mapping->position_of(address), std::min(bytes, mapping->start + mapping->bytes - address)};
}

bool Memory::host_may_write(std::uintptr_t address) const {
  if (backing_.host_may_touch()) return true;
  const ReaderGuard inside;
  const Mapping* mapping = mappings_.at(address);
  return mapping != nullptr && mapping->shown.load();
}

std::uint64_t Memory::load64(std::uintptr_t address) {
  const ReaderGuard inside;
  const Piece piece = piece_at(address, sizeof(std::uint64_t));
  return piece.bytes == 0 ? backing_.fresh_byte() * 0x0101010101010101U : backing_.load64(piece.at);
}

bool Memory::has_device_address(std::uintptr_t start, std::size_t bytes) const {
  const platform::AddressRange& window = map_.window();
  return overlap(start, bytes, window.base, window.bytes) || host_.has_device_alias(start, bytes) ||
         mappings_.touches(start, bytes) || managed_.touches(start, bytes);
}

}  // namespace belay
