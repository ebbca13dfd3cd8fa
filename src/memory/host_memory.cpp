#include "memory/host_memory.h"

#include <array>
#include <cstring>
#include <mutex>
#include <new>

#include "base/raise.h"
#include "base/words.h"
#include "memory/backing_store.h"
#include "memory/history.h"
#include "observe/call_sites.h"
#include "observe/observe.h"
#include "platform/files.h"
#include "platform/pinned.h"

namespace belay {
namespace {

std::size_t block_bytes(const Plan& plan, bool unified_address) {
  return unified_address ? round_up(plan.bytes, 2_MiB).value_or(SIZE_MAX) : plan.footprint;  // M-80, M-185
}

Refusal already_registered(const char* rule, std::uintptr_t start, std::size_t bytes) {
  return refuse(
      {ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED, rule, "EE1011",
       fmt::format("the range {} + {} bytes overlaps one that is registered already", hex(start), bytes), "",
       "unregister the earlier range with aclrtHostUnregister first"});
}

// How a block or a registration came, as it is told and kept.
observe::Event begin(observe::Object object, std::uintptr_t start, std::size_t asked, std::size_t bytes) {
  const bool block = object == observe::Object::HostBlock;
  observe::Event event{.what = block ? observe::What::Allocated : observe::What::Created,
                       .object = object,
                       .page_shift = 12,
                       .units = static_cast<std::uint32_t>(bytes / 4_KiB),
                       .serial = observe::next_serial(),
                       .address = start,
                       .bytes = asked,
                       .function = observe::t_call.function};
  if (observe::wanted(event.what) || observe::keeps_sites()) observe::complete(event);
  return event;
}

HostFacts facts_of(const observe::Event& born, std::size_t bytes, const char* ended_by = nullptr) {
  return {.start = born.address,
          .asked = born.bytes,
          .bytes = bytes,
          .registered = born.object == observe::Object::Registration,
          .made_by = born.function_name(),
          .ended_by = ended_by,
          .made_at = born.site,
          .ended_at = ended_by == nullptr ? 0 : observe::site_of_this_call()};
}

void end(observe::What what, const observe::Event& born, std::size_t bytes, std::uint8_t flags = 0) {
  remember_ended(facts_of(born, bytes, observe::t_call.function));
  if (what == observe::What::Freed && flags == 0 && observe::wanted(observe::What::GivenBack)) {
    observe::deliver_at_once({.what = observe::What::GivenBack,
                              .object = born.object,
                              .serial = born.serial,
                              .address = born.address,
                              .bytes = born.bytes});
  }
  observe::publish({.what = what,
                    .object = born.object,
                    .page_shift = born.page_shift,
                    .flags = flags,
                    .units = born.units,
                    .serial = born.serial,
                    .address = born.address,
                    .bytes = born.bytes});
}

}  // namespace

Refusal HostMemory::lock_refused(std::size_t bytes) const {
  const std::optional<std::size_t> limit = platform::lock_limit();
  return out_of_memory(
      "M-431",
      fmt::format("module APP asked for {} bytes of page-locked host memory and the system refused to "
                  "lock them; the limit is {} (ulimit -l)",
                  bytes, limit ? amount(*limit) : "none"),
      "the limit on locked memory of this user is used up, or the machine is out of memory",
      "raise it with 'ulimit -l' or memlock in /etc/security/limits.conf, or unset BELAY_PIN to continue "
      "with memory that is not locked");
}

// A program that asks again and again must hear of it once (C-25).
void say_not_locked(PinMode pin, std::size_t bytes) {
  static constinit platform::SaidBy said_by{0};
  if (pin != PinMode::Auto) return;
  platform::say_once(said_by, [&] {
    const std::optional<std::size_t> limit = platform::lock_limit();
    return fmt::format(
        "{} bytes of pinned memory are not locked, and later pinned memory may not be either: {} (ulimit "
        "-l). Everything else works the same. Raise the limit ('ulimit -l unlimited', memlock in "
        "/etc/security/limits.conf, docker run --ulimit memlock=-1), or set BELAY_PIN=best-effort to silence "
        "this [rule M-431]",
        bytes, limit ? fmt::format("the limit is {}", amount(*limit)) : "the system locks no more");
  });
}

namespace {
Refusal no_room(std::size_t bytes, HostRoom& room) {
  return out_of_memory(
      "M-174",
      fmt::format("module APP asked for {} bytes of page-locked host memory, and {} bytes are left", bytes,
                  room.left()),
      "with more, the machine would run out of memory, or the kernel would end this process because of the "
      "limit of its control group (a container)",
      "ask for less, free host memory first, or give the container more");
}

Refusal not_mapped(std::size_t bytes) {
  return out_of_memory(
      "M-174",
      fmt::format("module APP asked for {} bytes of page-locked host memory, which the kernel does not map",
                  bytes),
      "the limit on address space (ulimit -v) or on mappings (vm.max_map_count) is reached, or the size is "
      "larger than the address space",
      "ask for less, or raise the limit");
}
}  // namespace

// Those that are kept for blocks to come count in the limit of the system, and may be what is missing.
Result<void*> HostMemory::fresh_pages(std::size_t asked, std::size_t bytes) {
  const HostRoom::Promise until_filled = room_.ask(bytes);
  if (!until_filled) return no_room(asked, room_);
  const auto map = [&] {
    return platform::map_pinned(bytes, pin_ == PinMode::Strict, node_.value_or(platform::kAnyNode));
  };
  platform::Pinned pinned = map();
  if (!pinned.locked && spare_.give_all_back()) {
    if (pinned.outcome == platform::PinOutcome::Done) platform::unmap_pinned(pinned.start, bytes);
    pinned = map();
  }
  switch (pinned.outcome) {
    case platform::PinOutcome::LockRefused:
      return lock_refused(asked);
    case platform::PinOutcome::NoMemory:
      return not_mapped(asked);
    case platform::PinOutcome::Done:
      break;
  }
  if (!pinned.locked) say_not_locked(pin_, bytes);
  std::memset(pinned.start, fresh_, bytes);  // not initialised, and never zero by luck (M-13)
  return pinned.start;
}

bool HostMemory::lock_pages(std::uintptr_t start, std::size_t bytes) {
  const auto* place = reinterpret_cast<const void*>(start);
  return platform::lock_pages(place, bytes) || (spare_.give_all_back() && platform::lock_pages(place, bytes));
}

Result<void*> HostMemory::allocate(const Plan& plan, bool unified_address) {
  const std::size_t bytes = block_bytes(plan, unified_address);
  void* place = spare_.take(bytes);
  if (place == nullptr) {
    ASSIGN_OR_RETURN(place, fresh_pages(plan.asked, bytes));
  }
  const auto start = reinterpret_cast<std::uintptr_t>(place);
  const observe::Event born = begin(observe::Object::HostBlock, start, plan.asked, bytes);
  try {
    const std::unique_lock lock{mutex_};
    const PinnedBlock block{bytes, unified_address, born};
    if (spare_nodes_.empty()) {
      blocks_.emplace(start, block);
    } else {
      spare_nodes_.back().key() = start;
      spare_nodes_.back().mapped() = block;
      blocks_.insert(std::move(spare_nodes_.back()));
      spare_nodes_.pop_back();
    }
    cover(start, bytes);
    count_in(bytes);
  } catch (const std::bad_alloc&) {
    platform::unmap_pinned(place, bytes);
    throw;
  }
  observe::publish(born);
  return place;
}

void HostMemory::count_in(std::size_t bytes) {
  const std::size_t now = in_use_.fetch_add(bytes) + bytes;
  if (!raise(peak_, now)) return;
  if (std::atomic<std::size_t>* shown = shown_peak_.load()) raise(*shown, now);
}

bool HostMemory::owns(std::uintptr_t start) const {
  const std::shared_lock lock{mutex_};
  return blocks_.contains(start);
}

Status HostMemory::release(void* pointer) {
  const auto start = reinterpret_cast<std::uintptr_t>(pointer);
  PinnedBlock block{};
  {
    const std::unique_lock lock{mutex_};
    const auto found = blocks_.find(start);
    if (found == blocks_.end()) {
      const std::optional<HostRange> around = pinned_around(start);
      return rejected("M-189", "hostPtr", hex(start),
                      around ? fmt::format("it points {} bytes into the pinned block {}, not at its start",
                                           start - around->start, hex(around->start))
                             : "no live block of pinned host memory starts there; it was freed already, or "
                               "comes from another allocator",
                      "free each block once, with the address that aclrtMallocHost returned");
    }
    if (registered_overlap(start, found->second.bytes)) {
      return refuse({ACL_ERROR_RT_DRV_INTERNAL_ERROR, "M-193", "EL0005",
                     fmt::format("the pinned block {} is still registered", hex(start)), "",
                     "call aclrtHostUnregister for it first, then free it"});
    }
    block = found->second;
    if (spare_nodes_.size() < kSpareNodes)
      spare_nodes_.push_back(blocks_.extract(found));
    else
      blocks_.erase(found);
    in_use_ -= block.bytes;
  }
  end(observe::What::Freed, block.born, block.bytes);
  // Whoever looks for mistakes finds those of the program's own code, too, where nothing is.
  const bool watched = observe::wanted(observe::What::GivenBack) || observe::keeps_sites();
  if (watched) {
    const std::unique_lock lock{mutex_};
    if (const auto kept = kept_.find(block.born.serial); kept != kept_.end()) {
      kept->second = {start, block.bytes};
      return done();
    }
  }
  if (watched || !spare_.keep(pointer, block.bytes)) platform::unmap_pinned(pointer, block.bytes);
  return done();
}

void HostMemory::keep_mapped(std::uint64_t serial) {
  const std::unique_lock lock{mutex_};
  kept_.emplace(serial, Kept{0, 0});
}

void HostMemory::let_go(std::uint64_t serial) {
  Kept kept{0, 0};
  {
    const std::unique_lock lock{mutex_};
    const auto found = kept_.find(serial);
    if (found == kept_.end()) return;
    kept = found->second;
    kept_.erase(found);
  }
  if (kept.start != 0) platform::unmap_pinned(reinterpret_cast<void*>(kept.start), kept.bytes);
}

void HostMemory::close() {
  room_.on_shortage(nullptr);
  spare_.close();
  const std::unique_lock lock{mutex_};
  for (const auto& [start, registration] : registrations_) {
    if (registration.locked_here) platform::unlock_pages(reinterpret_cast<void*>(start), registration.bytes);
    end(observe::What::Destroyed, registration.born, registration.bytes, observe::Event::kSwept);
  }
  registrations_.clear();
  for (const auto& [start, block] : blocks_) {
    end(observe::What::Freed, block.born, block.bytes, observe::Event::kSwept);
    platform::unmap_pinned(reinterpret_cast<void*>(start), block.bytes);
  }
  blocks_.clear();
  for (const auto& [serial, kept] : kept_) {
    if (kept.start != 0) platform::unmap_pinned(reinterpret_cast<void*>(kept.start), kept.bytes);
  }
  kept_.clear();
  alias_base_.store(0);
  platform::release_addresses(aliases_);
}

std::optional<HostRange> HostMemory::pinned_around(std::uintptr_t address) const {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return std::nullopt;
  --after;
  if (address - after->first >= after->second.bytes) return std::nullopt;
  return HostRange{after->first, after->second.bytes, after->second.born.serial, after->second.born.bytes};
}

bool HostMemory::registered_overlap(std::uintptr_t start, std::size_t bytes) const {
  const auto after = registrations_.lower_bound(start);
  if (after != registrations_.end() && overlap(start, bytes, after->first, after->second.bytes)) return true;
  if (after == registrations_.begin()) return false;
  const auto before = std::prev(after);
  return overlap(start, bytes, before->first, before->second.bytes);
}

std::uintptr_t HostMemory::take_alias(std::size_t bytes) {
  if (alias_base_.load(std::memory_order_relaxed) == 0) {
    aliases_ = platform::reserve_addresses(platform::kAliasWishes);
    if (aliases_.base == 0) return 0;
    free_aliases_.give(aliases_.base, kAliasBytes);
    alias_base_.store(aliases_.base, std::memory_order_release);
  }
  return free_aliases_.take(bytes).value_or(0);
}

Result<std::uintptr_t> HostMemory::register_range(std::uintptr_t start, std::size_t bytes,
                                                  RegisterWish wish) {
  if (start % 4_KiB != 0) {
    return driver_refuses("M-207", fmt::format("the address {} is not a multiple of 4096", hex(start)),
                          "register whole pages: start at a multiple of 4096");
  }
  if (bytes > SIZE_MAX - 4_KiB - start) {
    return driver_refuses(
        "M-207", fmt::format("the range {} + {} bytes ends beyond the address space", hex(start), bytes),
        "check the size");
  }
  const std::unique_lock lock{mutex_};
  if (registered_overlap(start, bytes))
    return already_registered(wish.pinned ? "M-205" : "M-200", start, bytes);
  const std::optional<HostRange> pinned = pinned_around(start);
  Registration registration{bytes, 0, false, begin(observe::Object::Registration, start, bytes, bytes)};
  if (wish.pinned && pinned) {
    return rejected("M-206", "flag", "ACL_HOST_REG_PINNED", "the memory is page-locked already",
                    "leave out ACL_HOST_REG_PINNED for memory from aclrtMallocHost");
  }
  if (platform::has_unwritable_part(start, bytes)) {
    return driver_refuses("Y-122",
                          fmt::format("the range {} + {} bytes may not be written", hex(start), bytes),
                          "register memory that is mapped for reading and writing");
  }
  if (wish.mapped) {
    const bool same_address = pinned && blocks_.at(pinned->start).unified_address;
    registration.device_address = same_address ? start : take_alias(*round_up(bytes, 4_KiB));
    if (registration.device_address == 0) {
      return out_of_memory("M-210", "no device address is left for registered host memory", "",
                           "unregister ranges that are no longer used");
    }
  }
  if (wish.pinned) {
    const auto give_up = [&](Refusal refusal) {
      if (is_device_alias(registration.device_address))
        free_aliases_.give(registration.device_address, *round_up(bytes, 4_KiB));
      return refusal;
    };
    const HostRoom::Promise until_filled = room_.ask(platform::bytes_not_there(start, bytes));
    if (!until_filled) return give_up(no_room(bytes, room_));
    registration.locked_here = lock_pages(start, bytes);
    if (!registration.locked_here && pin_ == PinMode::Strict) return give_up(lock_refused(bytes));
    if (!registration.locked_here) say_not_locked(pin_, bytes);
  }
  registrations_.emplace(start, registration);
  cover(start, bytes);
  observe::publish(registration.born);
  return registration.device_address;
}

Status HostMemory::unregister(std::uintptr_t start) {
  std::unique_lock lock{mutex_};
  const auto found = registrations_.find(start);
  if (found == registrations_.end()) {
    std::vector<Happened> before = history_of_ended(start);
    const Misuse misuse = before.size() > 1 ? Misuse::FreedTwice : Misuse::None;
    return as_misuse(refuse({ACL_ERROR_HOST_MEMORY_NOT_REGISTERED, "M-222", "EE1011",
                             fmt::format("no registered range starts at {}", hex(start)), "",
                             "pass the address that was registered, once"}),
                     misuse, std::move(before));
  }
  const Registration registration = found->second;
  if (registration.locked_here) platform::unlock_pages(reinterpret_cast<void*>(start), registration.bytes);
  if (is_device_alias(registration.device_address)) {
    free_aliases_.give(registration.device_address, *round_up(registration.bytes, 4_KiB));
  }
  registrations_.erase(found);
  lock.unlock();  // whoever hears of it may take a while
  end(observe::What::Destroyed, registration.born, registration.bytes);
  return done();
}

std::optional<std::uintptr_t> HostMemory::device_pointer(std::uintptr_t start) const {
  const std::shared_lock lock{mutex_};
  const auto found = registrations_.find(start);
  if (found == registrations_.end() || found->second.device_address == 0) return std::nullopt;
  return found->second.device_address;
}

void HostMemory::cover(std::uintptr_t start, std::size_t bytes) {
  if (start < covered_from_.load(std::memory_order_relaxed)) covered_from_.store(start);
  if (start + bytes > covered_to_.load(std::memory_order_relaxed)) covered_to_.store(start + bytes);
}

std::optional<HostRange> HostMemory::find(std::uintptr_t address) const {
  if (is_outside(address)) return std::nullopt;
  const std::shared_lock lock{mutex_};
  return find_locked(address);
}

std::optional<HostFacts> HostMemory::peek(std::uintptr_t address) const {
  const std::shared_lock lock{mutex_, std::try_to_lock};
  const std::optional<HostRange> range = lock ? find_locked(address) : std::nullopt;
  if (!range) return std::nullopt;
  const auto block = blocks_.find(range->start);
  return facts_of(block != blocks_.end() ? block->second.born : registrations_.at(range->start).born,
                  range->bytes);
}

std::optional<HostFacts> HostMemory::block_around(std::uintptr_t address) const {
  if (is_outside(address)) return std::nullopt;
  const std::shared_lock lock{mutex_};
  const std::optional<HostRange> range = pinned_around(address);
  if (!range) return std::nullopt;
  return facts_of(blocks_.at(range->start).born, range->bytes);
}

HostMemory::Hold HostMemory::hold(std::uintptr_t address) const {
  if (is_outside(address)) return {};
  Hold lock{mutex_};
  return find_locked(address) ? std::move(lock) : Hold{};
}

std::optional<HostRange> HostMemory::find_locked(std::uintptr_t address) const {
  if (const std::optional<HostRange> pinned = pinned_around(address)) return pinned;
  auto after = registrations_.upper_bound(address);
  if (after == registrations_.begin()) return std::nullopt;
  --after;
  if (address - after->first >= after->second.bytes) return std::nullopt;
  return HostRange{after->first, after->second.bytes, after->second.born.serial, SIZE_MAX};
}

}  // namespace belay
