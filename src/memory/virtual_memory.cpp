#include "memory/virtual_memory.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/words.h"
#include "memory/history.h"
#include "memory/reader_guard.h"
#include "observe/observe.h"
#include "platform/address_space.h"
#include "platform/pinned.h"

namespace belay {
namespace {

using observe::Object;
using observe::What;

observe::Event event_of(What what, const Reservation& reservation) {
  return {.what = what,
          .object = Object::Reservation,
          .serial = reservation.serial,
          .address = reservation.start,
          .bytes = reservation.asked};
}

observe::Event event_of(What what, const Extent& extent, std::uint64_t handle, std::size_t asked) {
  return {.what = what,
          .object = extent.side == Side::Host ? Object::HostPhysical : Object::Physical,
          .page_shift = static_cast<std::uint8_t>(std::countr_zero(page_bytes(extent.page))),
          .module = extent.module,
          .device = static_cast<std::uint8_t>(extent.device),
          .flags = extent.p2p ? observe::Event::kP2p : std::uint8_t{0},
          .units = static_cast<std::uint32_t>(extent.bytes / 4_KiB),
          .serial = extent.number,
          .address = handle,
          .bytes = asked};
}

void tell(What what, const Mapping& mapping, bool swept = false) {
  if (!observe::wanted(what) && !observe::keeps_sites()) return;
  observe::deliver({.what = what,
                    .object = Object::Mapping,
                    .device = static_cast<std::uint8_t>(mapping.extent->device),
                    .flags = swept ? observe::Event::kSwept : std::uint8_t{0},
                    .serial = mapping.serial,
                    .address = mapping.start,
                    .bytes = mapping.bytes},
                   {.object = mapping.extent->number});
}

void tell_freed(const Physical& physical, bool swept) {
  if (physical.imported != 0) {
    observe::publish({.what = What::Destroyed,
                      .object = Object::ImportedPhysical,
                      .device = static_cast<std::uint8_t>(physical.extent->device),
                      .flags = swept ? observe::Event::kSwept : std::uint8_t{0},
                      .serial = physical.extent->number,
                      .address = physical.handle,
                      .bytes = physical.plan.asked});
    return;
  }
  observe::Event freed = event_of(What::Freed, *physical.extent, physical.handle, physical.plan.asked);
  if (swept) freed.flags |= observe::Event::kSwept;
  observe::publish(freed);
}

Object object_of(const Physical& physical) {
  if (physical.imported != 0) return Object::ImportedPhysical;
  return physical.plan.side == Side::Host ? Object::HostPhysical : Object::Physical;
}

// What became of memory that was imported by key.
std::string in_words(const machine::Share& lease) {
  return fmt::format(
      "it is memory that process {} shared by an IPC key and has taken back: it closed the key, freed the "
      "memory or ended",
      lease.process);
}

std::string in_words(const Extent& extent) {
  return extent.side == Side::Host ? std::string{"the host"} : fmt::format("device {}", extent.device);
}

Refusal no_such_handle(const char* rule, std::uint64_t handle) {
  return of_dead_handle(
      rejected(rule, "handle", hex(handle), "no physical memory has this handle: it was freed, or never made",
               "pass a handle of aclrtMallocPhysical that still has a reference or a mapping"),
      history_of_ended(handle));
}

}  // namespace

// --- addresses ------------------------------------------------------------------------------------

Result<std::uintptr_t> VirtualMemory::reserve(std::size_t asked, std::uintptr_t wished) {
  const platform::AddressRange& window = parts_.map.window();
  const std::size_t in_driver = std::min(window.bytes, platform::kDeviceWindow);
  const std::size_t unit =
      has(parts_.product->product, Feature::NewerDriver) && asked >= 1_GiB ? 1_GiB : kMappingUnit;
  const Size bytes = round_up(asked, unit);
  if (!bytes || *bytes > in_driver) {
    return out_of_memory(
        "V-81",
        fmt::format("{} bytes of addresses were asked for, and the window has {}", asked, amount(in_driver)),
        "", "reserve less at a time, or check the computation of the size");
  }
  const auto busy = [&](std::string why) {
    return driver_refuses("V-72",
                          fmt::format("{} bytes at {} cannot be reserved: {}", asked, hex(wished), why),
                          "pass NULL as expectPtr, or an address that was reserved and released before");
  };
  if (wished != 0 && (wished < window.base || wished - window.base > in_driver - *bytes)) {
    return busy(fmt::format("addresses for reservations lie between {} and {}", hex(window.base),
                            hex(window.base + in_driver)));
  }
  const Lock held = parts_.mappings.lock();
  Reservation* made = parts_.mappings.reserve(*bytes, wished, held);
  if (made == nullptr && wished != 0) return busy("some of them are in use");
  if (made == nullptr) {
    return out_of_memory(
        "V-73", fmt::format("there are no {} of addresses left in one piece", amount(*bytes)),
        "the window of device addresses is full of blocks and reservations, or the process has no "
        "address space left",
        "release reservations, or raise the limit on address space (ulimit -v)");
  }
  made->asked = asked;
  figures_.add_reservation(made->bytes);
  observe::publish(event_of(What::Created, *made));
  return made->start;
}

Result<std::uintptr_t> VirtualMemory::reserve_high(std::size_t bytes, std::uintptr_t wished) {
  const Lock held = parts_.mappings.lock();
  Reservation* made = parts_.mappings.reserve_outside(bytes, wished, held);
  if (made == nullptr) {
    return out_of_memory("V-89", fmt::format("{} at {} cannot be reserved", amount(bytes), hex(wished)),
                         "some of it is in use in this process, the system has no such addresses, or a limit "
                         "forbids them (ulimit -v)",
                         "choose another address from 40 TB up");
  }
  figures_.add_reservation(made->bytes);
  observe::publish(event_of(What::Created, *made));
  return made->start;
}

Status VirtualMemory::release(std::uintptr_t start) {
  const Lock held = parts_.mappings.lock();
  const Reservation* found = own_reservation(start, held);
  if (found == nullptr || found->start != start) {
    std::vector<Happened> before = history_of_ended(start);
    const Misuse misuse = found != nullptr                     ? Misuse::FreedInside
                          : parts_.map.find(start).has_value() ? Misuse::FreedByWrongFunction
                          : before.size() > 1                  ? Misuse::FreedTwice
                                                               : Misuse::UsedUnallocated;
    return as_misuse(
        rejected("V-94", "virPtr", hex(start),
                 found == nullptr
                     ? std::string{"no reservation is there: it was released, or never made"}
                     : fmt::format("it points into the reservation {}, not at its start", hex(found->start)),
                 "release each reservation once, by the address that was returned for it"),
        misuse, misuse == Misuse::FreedTwice ? std::move(before) : std::vector<Happened>{});
  }
  if (found->mappings != 0) {
    const auto inside = std::ranges::find(parts_.mappings.all(held), found, &Mapping::inside);
    return as_misuse(driver_refuses("V-95",
                                    fmt::format("the reservation {} still has {}", hex(start),
                                                counted(found->mappings, "mapping")),
                                    "end each with aclrtUnmapMem first"),
                     Misuse::ReleasedWhileMapped, history_of(Object::Mapping, (*inside)->serial));
  }
  figures_.remove_reservation(found->bytes);
  observe::publish(event_of(What::Destroyed, *found));
  parts_.mappings.release(*found, held);
  return done();
}

std::optional<std::int32_t> VirtualMemory::bound_at(std::uintptr_t address) const {
  const Lock held = parts_.mappings.lock();
  const Reservation* inside = parts_.mappings.around(address, held);
  return inside == nullptr ? std::nullopt : std::optional{inside->bound};
}

bool VirtualMemory::is_outside(std::uintptr_t address) const {
  const Lock held = parts_.mappings.lock();
  const Reservation* inside = parts_.mappings.around(address, held);
  return inside != nullptr && inside->outside;
}

bool VirtualMemory::is_shown_to_host(std::uintptr_t address) const {
  const Lock held = parts_.mappings.lock();
  const Mapping* mapping = parts_.mappings.containing(address, held);
  return mapping != nullptr && mapping->shown.load();
}

// --- memory ---------------------------------------------------------------------------------------

// Pinned, so all of it is there from the start, as with aclrtMallocHost. It is not initialised (V-122).
Status VirtualMemory::fill_on_host(const Extent& extent, const PhysicalPlan& plan) {
  const HostRoom::Promise until_filled = parts_.room.ask(extent.bytes);
  if (!until_filled) {
    return out_of_memory(
        "V-118",
        fmt::format("{} bytes of physical memory on the host were asked for, and {} bytes are left",
                    plan.asked, parts_.room.left()),
        "with more, the machine would run out of memory, or the kernel would end this process because of the "
        "limit "
        "of its control group (a container)",
        "ask for less, free host memory first, or give the container more");
  }
  std::byte* place = parts_.backing.view_of(extent.start, extent.bytes);
  if (place != nullptr && plan.on_node && plan.node >= 0)
    platform::put_on_node(place, extent.bytes, plan.node);
  if (const Reached filled = parts_.backing.fill(extent.start, parts_.backing.fresh_byte(), extent.bytes);
      !filled) {
    return out_of_memory("V-118", "the bytes of physical memory on the host could not be reached",
                         "the process has no address space or files left for them",
                         "raise the limits (ulimit -v, ulimit -f)");
  }
  if (place != nullptr && platform::lock_pages(place, extent.bytes)) return done();
  if (parts_.pin == PinMode::Strict) {
    return out_of_memory("M-431", fmt::format("the system refused to lock {} bytes", extent.bytes),
                         "the limit on locked memory of this user (ulimit -l) is used up",
                         "raise it, or unset BELAY_PIN to continue with memory that is not locked");
  }
  say_not_locked(parts_.pin, extent.bytes);
  return done();
}

Result<VirtualMemory::Taken> VirtualMemory::allocate(std::uint64_t handle, const PhysicalPlan& plan) {
  const bool on_host = plan.side == Side::Host;
  bool granted = false;
  ExtentPtr extent =
      on_host ? parts_.physical.allocate_on_host(plan.bytes, plan.p2p, kModuleApp)
              : parts_.physical.allocate(plan.device, plan.page, plan.bytes, plan.p2p, kModuleApp, &granted);
  if (extent == nullptr && on_host)
    return out_of_memory("V-118", fmt::format("{} bytes of physical memory on the host", plan.asked),
                         "there is no room left in their file", "free some first");
  if (extent == nullptr) return Taken::Short;
  if (on_host) {
    if (Status filled = fill_on_host(*extent, plan); !filled) return filled.take_refusal();
  }
  const Lock held = parts_.mappings.lock();
  observe::publish(event_of(What::Allocated, *extent, handle, plan.asked));
  physicals_.emplace(handle, Physical{handle, plan, std::move(extent), 1, 0, observe::t_call.function});
  figures_.add_physical(plan.bytes);
  if (on_host) parts_.host.add_physical(plan.bytes);
  return granted ? Taken::More : Taken::Again;
}

std::optional<PhysicalPlan> VirtualMemory::plan_of(std::uint64_t handle) const {
  const Lock held = parts_.mappings.lock();
  const auto found = physicals_.find(handle);
  return found == physicals_.end() ? std::nullopt : std::optional{found->second.plan};
}

Status VirtualMemory::free(std::uint64_t handle) {
  ExtentPtr last;  // given back when the lock is not held any more
  const Lock held = parts_.mappings.lock();
  const auto found = physicals_.find(handle);
  if (found == physicals_.end()) return no_such_handle("V-127", handle);
  Physical& physical = found->second;
  if (physical.references == 0) {
    return as_misuse(
        rejected("V-34", "handle", hex(handle),
                 fmt::format("all its references were freed; only {} left",
                             physical.mappings == 1
                                 ? std::string{"a mapping is"}
                                 : fmt::format("{} are", counted(physical.mappings, "mapping"))),
                 "free a handle once for each aclrtMallocPhysical and aclrtMemRetainAllocationHandle"),
        Misuse::FreedTwice, history_of(object_of(physical), physical.extent->number));
  }
  if (--physical.references != 0 || physical.mappings != 0) return done();
  count_end(physical);
  tell_freed(physical, false);
  last = std::move(physical.extent);
  physicals_.erase(found);
  return done();
}

void VirtualMemory::count_end(const Physical& physical) {
  if (physical.exported != 0) retire(physical);
  if (physical.imported != 0) {
    imported_.erase({physical.imported, physical.extent->device});
    return;
  }
  figures_.remove_physical(physical.plan.bytes);
  if (physical.plan.side == Side::Host) parts_.host.remove_physical(physical.plan.bytes);
}

// --- mapping --------------------------------------------------------------------------------------

Status VirtualMemory::check_target(const MapWish& wish, const Physical& physical, const Reservation* inside,
                                   const Lock& held) const {
  const auto [start, bytes, handle, accessible] = wish;
  if (inside == nullptr) {
    return driver_refuses("V-138", fmt::format("{} is in no reservation", hex(start)),
                          "reserve the addresses with aclrtReserveMemAddress first");
  }
  const std::uintptr_t end = inside->start + inside->bytes;
  if (start % kMappingUnit != 0 || bytes % kMappingUnit != 0) {
    return driver_refuses(
        "V-139", fmt::format("{} bytes at {}: address and size must be multiples of 2 MB", bytes, hex(start)),
        "round both as aclrtMemGetAllocationGranularity says");
  }
  if (bytes > end - start) {
    return driver_refuses("V-140",
                          fmt::format("{} bytes at {} end after the reservation {} of {} bytes", bytes,
                                      hex(start), hex(inside->start), inside->bytes),
                          "reserve more addresses, or map elsewhere");
  }
  if (const Mapping* there = parts_.mappings.anything_in(start, bytes, held); there != nullptr) {
    return as_misuse(
        driver_refuses("V-141",
                       fmt::format("in the {} bytes at {} something is mapped already: {} bytes at {}", bytes,
                                   hex(start), there->bytes, hex(there->start)),
                       "end that mapping with aclrtUnmapMem first"),
        Misuse::MappedWrongly, history_of(Object::Mapping, there->serial));
  }
  const Extent& extent = *physical.extent;
  const std::int32_t owner =
      extent.side == Side::Host ? kBoundToHost : static_cast<std::int32_t>(extent.device);
  if (!inside->outside && inside->bound != kUnbound && inside->bound != owner) {
    return driver_refuses(
        "V-142",
        fmt::format(
            "the reservation {} belongs to {} since its first mapping; this memory is on {}",
            hex(inside->start),
            inside->bound == kBoundToHost ? std::string{"the host"} : fmt::format("device {}", inside->bound),
            in_words(extent)),
        "use one reservation for each device; to change it, release and reserve it anew");
  }
  if (extent.page == Page::Huge1G && (start % 1_GiB != 0 || bytes % 1_GiB != 0)) {
    return driver_refuses(
        "V-143",
        fmt::format("{} bytes at {}: memory of 1 GB pages needs multiples of 1 GB", bytes, hex(start)),
        "map it at a multiple of 1 GB; reservations of more than 512 MB start at one");
  }
  if (bytes != extent.bytes) {
    return rejected(bytes > extent.bytes ? "V-144" : "V-145", "size", bytes,
                    fmt::format("the physical memory has {} bytes", extent.bytes),
                    "map all of it, with the size of the allocation rounded up to whole pages");
  }
  return done();
}

bool VirtualMemory::shown_without_asking(const Extent& extent) const {
  return extent.side == Side::Host || (parts_.backing.host_may_touch() && parts_.backing.keeps_bytes());
}

bool VirtualMemory::reserved_by_kernel(const Reservation& reservation) const {
  return !parts_.map.contains(reservation.start) || parts_.map.window().reserved;
}

Status VirtualMemory::show_to_host(const Mapping& mapping) {
  if (mapping.shown.load()) return done();
  const Extent& extent = *mapping.extent;
  const Position start = mapping.position_of(mapping.start);
  if (!parts_.backing.keeps_bytes(start)) {
    return unsupported("V-180", "no contents of device memory are kept (BELAY_BACKING=none)",
                       "unset BELAY_BACKING to let host code use device memory");
  }
  if (const Reached filled = parts_.backing.expose(start, mapping.bytes); !filled) {
    return out_of_memory(
        "V-146", fmt::format("{} of device memory cannot be made ready for the host", amount(mapping.bytes)),
        "there is not enough memory on this machine for all of its bytes",
        "free memory, or grant the host less");
  }
  if (!extent.start.file->bytes().map_at(mapping.start, start.offset, mapping.bytes,
                                         reserved_by_kernel(*mapping.inside))) {
    const int why = errno;
    parts_.backing.conceal(start, mapping.bytes);
    const std::optional<std::size_t> most = platform::most_mappings();
    return out_of_memory(
        "V-146",
        fmt::format("the kernel did not map {} at {} for the host ({})", amount(mapping.bytes),
                    hex(mapping.start), std::generic_category().message(why)),
        fmt::format(
            "its limit on the mappings of a process is met (vm.max_map_count{}), or the process has no "
            "address space left",
            most ? fmt::format(", which is {}", *most) : ""),
        "raise it with 'sysctl vm.max_map_count=262144', map fewer and larger pieces, or raise ulimit -v");
  }
  std::atomic_ref{extent.was_shown}.store(true);
  mapping.shown.store(true);
  return done();
}

void VirtualMemory::hide_from_host(const Mapping& mapping) {
  if (!mapping.shown.exchange(false)) return;
  platform::hide_pages(mapping.start, mapping.bytes, reserved_by_kernel(*mapping.inside));
  parts_.backing.conceal(mapping.position_of(mapping.start), mapping.bytes);
}

Status VirtualMemory::map_locked(const MapWish& wish, const Lock& held) {
  const auto found = physicals_.find(wish.handle);
  if (found == physicals_.end()) return no_such_handle("V-137", wish.handle);
  Physical& physical = found->second;
  if (physical.references == 0) {
    observe::note("V-36", [&] {
      return fmt::format(
          "the handle {} is mapped after all its references were freed: only mappings keep its memory",
          hex(wish.handle));
    });
  }
  Reservation* inside = own_reservation(wish.start, held);
  if (Status fits = check_target(wish, physical, inside, held); !fits) {
    Refusal refusal = fits.take_refusal();
    if (refusal->misuse != Misuse::None) return refusal;  // it knows better what is in the way
    return as_misuse(
        std::move(refusal), Misuse::MappedWrongly,
        inside == nullptr ? std::vector<Happened>{} : history_of(Object::Reservation, inside->serial));
  }
  note_mixture(physical, *inside, held);
  auto mapping = std::make_unique<Mapping>();
  mapping->start = wish.start;
  mapping->bytes = wish.bytes;
  mapping->extent = physical.extent;
  mapping->offset = 0;
  mapping->asked = std::min(wish.bytes, physical.plan.asked);
  mapping->writable = true;
  mapping->serial = observe::next_serial();
  mapping->inside = inside;
  mapping->physical = &physical;
  mapping->owner.store(wish.accessible);
  parts_.mappings.make_room(held);  // before the kernel maps anything
  if (wish.accessible && shown_without_asking(*physical.extent)) {
    if (Status shown = show_to_host(*mapping); !shown) return shown;
  }
  const Mapping& made = parts_.mappings.map(std::move(mapping), held);
  const Extent& extent = *physical.extent;
  if (!inside->outside)
    inside->bound = extent.side == Side::Host ? kBoundToHost : static_cast<std::int32_t>(extent.device);
  ++physical.mappings;
  figures_.add_mapping(extent, made.bytes);
  tell(What::Created, made);
  return done();
}

Status VirtualMemory::map(const MapWish& wish) { return map_locked(wish, parts_.mappings.lock()); }

// What a mapping leaves behind: to be ended when nobody copies there any more, without the lock.
struct VirtualMemory::Gone {
  std::unique_ptr<Mapping> mapping;
  decltype(physicals_)::node_type physical;  // that ends with it
};

VirtualMemory::Gone VirtualMemory::unmap_locked(Mapping& mapping, const Lock& held) {
  hide_from_host(mapping);
  Gone gone{parts_.mappings.take(mapping, held), {}};
  figures_.remove_mapping(*mapping.extent, mapping.bytes);
  ended_[next_ended_++ % ended_.size()] = {mapping.start, mapping.bytes, observe::t_call.function};
  Physical& physical = *mapping.physical;
  if (--physical.mappings == 0 && physical.references == 0) {
    count_end(physical);
    gone.physical = physicals_.extract(physical.handle);
  }
  return gone;
}

void VirtualMemory::finish(Gone gone, bool swept) {
  tell(What::Destroyed, *gone.mapping, swept);
  if (gone.physical) tell_freed(gone.physical.mapped(), swept);
  const std::uintptr_t start = gone.mapping->start;
  const std::size_t bytes = gone.mapping->bytes;
  gone = {};
  parts_.watch.tell(start, bytes);
}

Refusal VirtualMemory::not_mapped(const char* rule, std::uintptr_t address, const Lock& held) const {
  const Mapping* around = parts_.mappings.containing(address, held);
  const std::optional<Seen> seen = look(address, held);
  Refusal refusal = driver_refuses(
      rule,
      around != nullptr ? fmt::format("{} points into the mapping {} of {} bytes, not at its start",
                                      hex(address), hex(around->start), around->bytes)
      : seen && seen->ended_start == address
          ? fmt::format("nothing is mapped at {} any more: the mapping was ended by {}", hex(address),
                        seen->ended_by)
          : fmt::format("nothing is mapped at {}", hex(address)),
      "pass the start of a mapping, as it was given to aclrtMapMem");
  if (around != nullptr) return refusal;
  std::vector<Happened> before = history_of_ended(address);
  if (before.size() < 2) return refusal;
  return as_misuse(std::move(refusal), Misuse::UsedAfterFree, std::move(before));
}

Status VirtualMemory::unmap(std::uintptr_t start) {
  Gone gone;
  {
    const Lock held = parts_.mappings.lock();
    if (start % kMappingUnit != 0 && has(parts_.product->product, Feature::NewerDriver)) {
      return rejected("V-162", "virPtr", hex(start), "it is not a multiple of 2 MB",
                      "pass the start of a mapping, as it was given to aclrtMapMem");
    }
    Mapping* mapping = own_mapping(start, held);
    if (mapping != nullptr && mapping->keys != 0) {
      return as_misuse(
          driver_refuses("V-394",
                         fmt::format("the mapping {} of {} bytes has {} that other processes may use",
                                     hex(start), mapping->bytes, counted(mapping->keys, "IPC key")),
                         "close each key with aclrtIpcMemClose first"),
          Misuse::ReleasedWhileMapped, history_of(Object::Mapping, mapping->serial));
    }
    if (mapping == nullptr) {
      std::vector<Happened> before = history_of_ended(start);
      const Misuse misuse = parts_.mappings.containing(start, held) != nullptr ? Misuse::FreedInside
                            : before.size() > 1                                ? Misuse::FreedTwice
                                                                               : Misuse::UsedUnallocated;
      return as_misuse(not_mapped("V-162", start, held), misuse,
                       misuse == Misuse::FreedTwice ? std::move(before) : std::vector<Happened>{});
    }
    gone = unmap_locked(*mapping, held);
  }
  ReaderGuard::wait_for_readers();
  finish(std::move(gone), false);
  return done();
}

Status VirtualMemory::map_again(std::uintptr_t start, std::size_t bytes, std::uintptr_t from) {
  const Lock held = parts_.mappings.lock();
  const Reservation* target = own_reservation(start, held);
  if (target == nullptr || target->start != start || target->asked != bytes) {
    return as_misuse(
        driver_refuses("V-209",
                       fmt::format("no reservation of exactly {} bytes starts at {}", bytes, hex(start)),
                       "reserve as many addresses as are mapped at the source, and pass their start"),
        Misuse::MappedWrongly);
  }
  for (std::size_t mapped = 0; mapped < bytes;) {
    const Mapping* source = own_mapping(from + mapped, held);
    if (source == nullptr) {
      return rejected("V-209", "virPtrSrc", hex(from + mapped), "no mapping starts there",
                      "pass the start of a range that is mapped without holes");
    }
    const MapWish wish{start + mapped, source->bytes, source->physical->handle, source->owner.load()};
    if (Status made = map_locked(wish, held); !made) return made;
    mapped += wish.bytes;
  }
  return done();
}

// --- access ---------------------------------------------------------------------------------------

bool VirtualMemory::is_owner(const Extent& extent, const Grantee& place) const {
  if (extent.side == Side::Host) return place.host;
  return !place.host && parts_.visible[extent.device] == place.device;
}

Status VirtualMemory::check_mapping(std::uintptr_t start, std::size_t bytes) const {
  const Lock held = parts_.mappings.lock();
  const Mapping* mapping = own_mapping(start, held);
  if (mapping == nullptr) {
    Refusal refusal = not_mapped("V-174", start, held);
    if (refusal->misuse == Misuse::None) refusal->misuse = Misuse::UsedUnallocated;
    return refusal;
  }
  if (mapping->bytes == bytes) return done();
  return as_misuse(
      driver_refuses("V-174",
                     fmt::format("the mapping {} has {} bytes, not {}", hex(start), mapping->bytes, bytes),
                     "pass the address and the size that were given to aclrtMapMem"),
      Misuse::AccessNotGranted, history_of(Object::Mapping, mapping->serial));
}

Status VirtualMemory::grant(std::uintptr_t start, const Grantee& to) {
  const Lock held = parts_.mappings.lock();
  const Mapping* mapping = own_mapping(start, held);
  if (mapping == nullptr) return not_mapped("V-174", start, held);
  const bool owner = is_owner(*mapping->extent, to);
  if (to.host || (owner && shown_without_asking(*mapping->extent))) {
    if (Status shown = show_to_host(*mapping); !shown) return shown;
  }
  if (owner) {
    mapping->owner.store(true);
  } else if (to.host) {
    mapping->host.store(true);
  } else {
    mapping->devices.fetch_or(std::uint64_t{1} << to.device);
  }
  return done();
}

Result<bool> VirtualMemory::is_granted(std::uintptr_t address, const Grantee& to) const {
  const Lock held = parts_.mappings.lock();
  const Mapping* mapping = parts_.mappings.containing(address, held);
  if (mapping == nullptr) return not_mapped("V-188", address, held);
  if (is_owner(*mapping->extent, to)) return mapping->owner.load();
  if (to.host) return mapping->host.load();
  return (mapping->devices.load() >> to.device & 1) != 0;
}

Result<std::uint64_t> VirtualMemory::retain(std::uintptr_t start) {
  const Lock held = parts_.mappings.lock();
  if (const Mapping* mapping = own_mapping(start, held)) {
    ++mapping->physical->references;
    return mapping->physical->handle;
  }
  const Reservation* inside = parts_.mappings.around(start, held);
  if (inside != nullptr && inside->was_mapped) return not_mapped("V-192", start, held);
  return refuse({ACL_ERROR_RT_INVALID_HANDLE, "V-192", "EE1018",
                 inside == nullptr
                     ? fmt::format("{} is in no reservation", hex(start))
                     : fmt::format("nothing was ever mapped in the reservation of {}", hex(start)),
                 "", "pass the start of a mapping, as it was given to aclrtMapMem"});
}

// --- words ----------------------------------------------------------------------------------------

std::optional<VirtualMemory::Seen> VirtualMemory::look(std::uintptr_t address, const Lock& held) const {
  const Reservation* inside = parts_.mappings.around(address, held);
  if (inside == nullptr) return std::nullopt;
  Seen seen{inside->start, inside->bytes, parts_.mappings.containing(address, held), 0, 0, ""};
  if (!inside->was_mapped) return seen;  // what ended was mapped in one before
  for (std::size_t back = 1; back <= std::min(next_ended_, ended_.size()); ++back) {
    const Ended& each = ended_[(next_ended_ - back) % ended_.size()];
    if (address - each.start >= each.bytes) continue;
    seen.ended_start = each.start;
    seen.ended_bytes = each.bytes;
    seen.ended_by = each.by;
    break;
  }
  return seen;
}

std::optional<std::string> VirtualMemory::describe(std::uintptr_t address) const {
  const Lock held = parts_.mappings.lock();
  const std::optional<Seen> seen = look(address, held);
  if (!seen) return std::nullopt;
  const std::string where = fmt::format("the reservation {} of {} bytes", hex(seen->start), seen->bytes);
  if (seen->mapping != nullptr && seen->mapping->lease != nullptr) {
    const machine::Share& lease = *seen->mapping->lease;
    return parts_.machine.shares().stands(lease)
               ? fmt::format("it is memory that process {} shares by an IPC key", lease.process)
               : in_words(lease);
  }
  if (seen->mapping != nullptr)
    return fmt::format("it is mapped, in {}: byte {} of the mapping {}", where,
                       address - seen->mapping->start, hex(seen->mapping->start));
  if (seen->ended_start != 0)
    return fmt::format("it is in {}; what was mapped there was ended by {}", where, seen->ended_by);
  return fmt::format("it is in {}, and nothing is mapped there", where);
}

std::optional<std::string> VirtualMemory::revoked(std::uintptr_t address) const {
  const Lock held = parts_.mappings.lock();
  const Mapping* mapping = parts_.mappings.containing(address, held);
  if (mapping == nullptr || mapping->lease == nullptr || parts_.machine.shares().stands(*mapping->lease))
    return std::nullopt;
  return in_words(*mapping->lease);
}

// --- ends -----------------------------------------------------------------------------------------

void VirtualMemory::close_device(std::uint32_t device) {
  std::vector<Gone> gone;
  std::vector<Physical> ended;
  {
    const Lock held = parts_.mappings.lock();
    const auto of_device = [&](const Extent& extent) {
      return extent.side == Side::Device && extent.device == device;
    };
    const std::vector<Mapping*> all = parts_.mappings.all(held);
    gone.reserve(all.size());  // nothing may throw once something was taken away
    ended.reserve(physicals_.size());
    for (Mapping* mapping : all) {
      if (mapping->physical != nullptr && of_device(*mapping->extent))
        gone.push_back(unmap_locked(*mapping, held));
    }
    std::erase_if(physicals_, [&](auto& each) {
      if (!of_device(*each.second.extent)) return false;
      count_end(each.second);
      ended.push_back(std::move(each.second));
      return true;
    });
  }
  if (!gone.empty()) ReaderGuard::wait_for_readers();
  for (Gone& each : gone) finish(std::move(each), true);
  for (const Physical& physical : ended) tell_freed(physical, true);
}

void VirtualMemory::close() {
  std::vector<std::unique_ptr<Mapping>> gone;
  {
    const Lock held = parts_.mappings.lock();
    const std::vector<Mapping*> all = parts_.mappings.all(held);
    gone.reserve(all.size());
    for (Mapping* mapping : all) {
      hide_from_host(*mapping);
      gone.push_back(parts_.mappings.take(*mapping, held));
      figures_.remove_mapping(*mapping->extent, mapping->bytes);
      if (mapping->physical != nullptr) tell(What::Destroyed, *mapping, true);
    }
    for (const auto& [handle, physical] : physicals_) {
      count_end(physical);
      tell_freed(physical, true);
    }
    for (const auto& [start, reservation] : parts_.mappings.reservations(held)) {
      if (reservation.of_key) continue;
      figures_.remove_reservation(reservation.bytes);
      observe::Event destroyed = event_of(What::Destroyed, reservation);
      destroyed.flags |= observe::Event::kSwept;
      observe::publish(destroyed);
    }
  }
  if (!gone.empty()) ReaderGuard::wait_for_readers();
  gone.clear();
  physicals_.clear();
  parts_.mappings.close();
}

}  // namespace belay
