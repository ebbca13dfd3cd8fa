#include "memory/managed_memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <utility>

#include "base/words.h"
#include "memory/host_history.h"
#include "observe/call_sites.h"
#include "observe/observe.h"
#include "platform/pinned.h"

namespace belay {
namespace {

using Type = ManagedPlace::Type;

std::uint64_t bit(std::int32_t id) { return std::uint64_t{1} << static_cast<unsigned>(id); }

observe::Event event_of(observe::What what, std::uintptr_t start, std::size_t asked, std::uint64_t serial) {
  return {
      .what = what, .object = observe::Object::Managed, .serial = serial, .address = start, .bytes = asked};
}

// What stands for a place where all pages agree on one, and else (V-315, V-317, V-318).
constexpr std::int32_t kHostAsPlace = -1;

}  // namespace

// --- life -----------------------------------------------------------------------------------------

bool ManagedMemory::open() {
  if (base_.load(std::memory_order_relaxed) != 0) return true;
  const platform::AddressRange range = platform::reserve_for_memory(platform::kManagedWishes);
  if (range.base == 0) return false;
  window_ = range;
  const std::uintptr_t first = *round_up(range.base, kManagedPage);
  free_.give(first, round_down(range.base + range.bytes - first, kManagedPage));
  base_.store(range.base, std::memory_order_release);
  return true;
}

bool ManagedMemory::is_in_window(std::uintptr_t start, std::size_t bytes) const {
  const std::uintptr_t known = base_.load(std::memory_order_acquire);
  const auto [base, window] =
      known != 0 ? platform::AddressWish{known, window_.bytes} : platform::kManagedWishes[0];
  return start >= base && start - base < window && bytes <= window - (start - base);
}

namespace {
auto giver_of(RunMap& runs) {
  return [&runs](std::uintptr_t start, std::size_t bytes) { runs.give(start, bytes); };
}
}  // namespace

std::optional<std::uintptr_t> ManagedMemory::take(std::size_t bytes) {
  if (const std::optional<std::uintptr_t> start = free_.take(bytes)) return start;
  if (quarantine_.empty()) return std::nullopt;
  quarantine_.give_all(giver_of(free_));
  return free_.take(bytes);
}

void ManagedMemory::set_quarantine(std::size_t bytes) {
  const std::unique_lock lock{mutex_};
  quarantine_.set_most(bytes, giver_of(free_));
}

Result<std::uintptr_t> ManagedMemory::allocate(std::size_t asked) {
  const Size bytes = round_up(asked, kManagedPage);
  const std::unique_lock lock{mutex_};
  std::optional<std::uintptr_t> start;
  if (open() && bytes) start = take(*bytes);
  if (!start) {
    return out_of_memory(
        "V-285",
        fmt::format("{} bytes of managed memory were asked for; a process has {} of addresses for it", asked,
                    amount(window_.bytes)),
        "the addresses are in use, or the process has no address space left",
        "free managed memory first, ask for less, or raise ulimit -v");
  }
  Allocation made{*bytes, asked, platform::SparseMemory{*bytes / kManagedPage * sizeof(Page)}, {}};
  if (!made.pages || !platform::map_memory(*start, *bytes, window_.reserved)) {
    free_.give(*start, *bytes);
    return out_of_memory(
        "V-285", fmt::format("the kernel did not map {} of managed memory", amount(*bytes)),
        "the limit on address space (ulimit -v), on mappings (vm.max_map_count) or on committed "
        "memory (vm.overcommit_memory) is met",
        "ask for less, or raise the limit");
  }
  made.born = event_of(observe::What::Created, *start, asked, observe::next_serial());
  made.born.function = observe::t_call.function;
  if (observe::wanted(made.born.what) || observe::keeps_sites()) observe::complete(made.born);
  const Allocation& kept = [&]() -> const Allocation& {
    try {
      return allocations_.emplace(*start, std::move(made)).first->second;
    } catch (const std::bad_alloc&) {
      platform::hide_pages(*start, *bytes, window_.reserved);
      free_.give(*start, *bytes);
      throw;
    }
  }();
  in_use_.add(kept.bytes);
  observe::publish(kept.born);
  return *start;
}

bool ManagedMemory::release(std::uintptr_t start) {
  const std::unique_lock lock{mutex_};
  const auto found = allocations_.find(start);
  if (found == allocations_.end()) return false;
  const Allocation& allocation = found->second;
  for (std::size_t i = 0; i < allocation.bytes / kManagedPage; ++i) {
    for (std::uint64_t left = allocation.page(i).on_devices; left != 0; left &= left - 1)
      charges_.give(static_cast<std::uint32_t>(std::countr_zero(left)));
  }
  observe::publish(event_of(observe::What::Destroyed, start, allocation.asked, allocation.born.serial));
  remember_ended({.start = start,
                  .asked = allocation.asked,
                  .bytes = allocation.bytes,
                  .managed = true,
                  .made_by = allocation.born.function,
                  .ended_by = observe::t_call.function,
                  .made_at = allocation.born.site,
                  .ended_at = observe::site_of_this_call()});
  platform::hide_pages(start, allocation.bytes, window_.reserved);
  in_use_.remove(allocation.bytes);
  quarantine_.put(start, allocation.bytes, giver_of(free_));
  allocations_.erase(found);
  return true;
}

void ManagedMemory::close_device(std::uint32_t device) {
  const std::unique_lock lock{mutex_};
  for (const auto& [start, allocation] : allocations_) {
    for (std::size_t i = 0; i < allocation.bytes / kManagedPage; ++i) {
      Page& page = allocation.page(i);
      if ((page.on_devices >> device & 1) == 0) continue;
      charges_.give(device);
      page.on_devices &= ~(std::uint64_t{1} << device);
      if (page.on_devices == 0) page.on_host = true;
    }
  }
}

void ManagedMemory::close() {
  const std::unique_lock lock{mutex_};
  base_.store(0, std::memory_order_release);
  for (const auto& [start, allocation] : allocations_) {
    observe::Event ended =
        event_of(observe::What::Destroyed, start, allocation.asked, allocation.born.serial);
    ended.flags |= observe::Event::kSwept;
    observe::publish(ended);
    platform::hide_pages(start, allocation.bytes, window_.reserved);
    in_use_.remove(allocation.bytes);
  }
  allocations_.clear();
  platform::release_addresses(window_);
}

// --- looking --------------------------------------------------------------------------------------

ManagedMemory::Allocations::const_iterator ManagedMemory::around(std::uintptr_t address) const {
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return allocations_.end();
  --next;
  return address - next->first < next->second.bytes ? next : allocations_.end();
}

std::optional<ManagedMemory::Range> ManagedMemory::find(std::uintptr_t address) const {
  const std::shared_lock lock{mutex_};
  const auto found = around(address);
  if (found == allocations_.end()) return std::nullopt;
  return Range{found->first, found->second.bytes, found->second.asked, found->second.born.serial};
}

bool ManagedMemory::all_alive(std::uintptr_t start, std::size_t bytes) const {
  for (std::uintptr_t at = start;;) {
    const auto found = around(at);
    if (found == allocations_.end()) return false;
    const std::uintptr_t end = found->first + found->second.bytes;
    if (end - start >= bytes) return true;
    at = end;
  }
}

ManagedMemory::Hold ManagedMemory::hold(std::initializer_list<std::uintptr_t> starts,
                                        std::size_t bytes) const {
  Hold lock{mutex_};
  const bool alive =
      std::ranges::all_of(starts, [&](std::uintptr_t start) { return all_alive(start, bytes); });
  return alive ? std::move(lock) : Hold{};
}

Refusal ManagedMemory::not_alive(std::uintptr_t start, std::size_t bytes) const {
  return driver_refuses(
      "V-292",
      fmt::format("not all of the {} bytes at {} are managed memory that is alive", bytes, hex(start)),
      "check address and size, and that the memory was not freed");
}

std::string ManagedMemory::where() const {
  return fmt::format("between {} and {}", hex(window_.base), hex(window_.base + window_.bytes));
}

template <class Act>
bool ManagedMemory::each_page(std::uintptr_t start, std::size_t bytes, Act&& act) const {
  for (std::uintptr_t at = round_down(start, kManagedPage); at < start + bytes;) {
    const auto found = around(at);
    if (found == allocations_.end()) return false;
    const std::uintptr_t end = std::min(start + bytes, found->first + found->second.bytes);
    for (; at < end; at += kManagedPage) {
      if (!act(found->second.page((at - found->first) / kManagedPage), at)) return false;
    }
  }
  return true;
}

// --- pages ----------------------------------------------------------------------------------------

// Host code touches pages without asking; the first touch shows.
bool ManagedMemory::is_on_host(const Page& page, std::uintptr_t address) const {
  return page.on_host ||
         (page.on_devices == 0 && platform::bytes_not_there(address, kManagedPage) < kManagedPage);
}

bool ManagedMemory::is_anywhere(const Page& page, std::uintptr_t address) const {
  return page.on_devices != 0 || is_on_host(page, address);
}

// A copy comes to a place; the others go, or stay. Where the device has no page left, none comes, and of
// several that should have gone one stays.
void ManagedMemory::place_on(Page& page, const ManagedPlace& place, bool keep_others) {
  std::uint64_t stays = place.type == Type::Device ? bit(place.id) : 0;
  bool host_stays = place.is_host_side();
  if ((stays & ~page.on_devices) != 0) {
    if (charges_.take(static_cast<std::uint32_t>(place.id))) {
      page.on_devices |= stays;
    } else {
      host_stays = page.on_host || page.on_devices == 0;
      stays = host_stays ? 0 : page.on_devices & -page.on_devices;
      if (!page.on_host && page.on_devices == 0) return;  // it is nowhere yet
    }
  }
  if (host_stays) page.on_host = true;
  if (keep_others) return;
  for (std::uint64_t left = page.on_devices & ~stays; left != 0; left &= left - 1)
    charges_.give(static_cast<std::uint32_t>(std::countr_zero(left)));
  page.on_devices = stays;
  page.on_host = host_stays;
}

void ManagedMemory::note_access(std::uintptr_t start, std::size_t bytes, const ManagedPlace& by,
                                bool writes) {
  const std::unique_lock lock{mutex_};
  each_page(start, bytes, [&](Page& page, std::uintptr_t) {
    const bool copies = page.read_mostly && !writes;
    if (writes) page.read_mostly = false;  // V-299
    place_on(page, by, copies);
    return true;
  });
}

bool ManagedMemory::note_prefetch(std::uintptr_t start, std::size_t bytes, const ManagedPlace& place) {
  const std::unique_lock lock{mutex_};
  if (!all_alive(start, bytes)) return false;
  return each_page(start, bytes, [&](Page& page, std::uintptr_t) {
    page.prefetched = place.type;
    page.prefetched_id = place.id;
    return true;
  });
}

void ManagedMemory::prefetch(std::uintptr_t start, std::size_t bytes, const ManagedPlace& place) {
  const std::unique_lock lock{mutex_};
  if (!all_alive(start, bytes)) return;
  each_page(start, bytes, [&](Page& page, std::uintptr_t) {
    place_on(page, place, page.read_mostly);
    return true;
  });
}

// --- advice ---------------------------------------------------------------------------------------

// V-301: a page that is elsewhere already cannot get a preferred place.
bool ManagedMemory::conflicts(const Page& page, std::uintptr_t address, const ManagedPlace& preferred) const {
  if (page.read_mostly) return false;
  if (preferred.is_host_side()) return page.on_devices != 0;
  return is_on_host(page, address) || (page.on_devices & ~bit(preferred.id)) != 0;
}

void ManagedMemory::apply(Page& page, std::uintptr_t address, aclrtMemManagedAdviseType advice,
                          const ManagedPlace& place) {
  // V-304: where the preferred place and one that accesses it are the same, the page is made in advance.
  const auto make_where_both_are = [&] {
    const ManagedPlace preferred{page.preferred, page.preferred_id};
    const bool both = preferred.type == Type::Device ? (page.by_devices & bit(preferred.id)) != 0
                      : preferred.type == Type::Node ? (page.by_nodes & bit(preferred.id)) != 0
                                                     : preferred.type == Type::Host && page.by_host;
    if (both && !is_anywhere(page, address)) place_on(page, preferred, false);
  };
  const bool sets = advice == ACL_MEM_ADVISE_SET_ACCESSED_BY;
  switch (advice) {
    case ACL_MEM_ADVISE_SET_READ_MOSTLY:
      page.read_mostly = true;
      page.on_host = true;
      break;
    case ACL_MEM_ADVISE_UNSET_READ_MOSTLY:
      if (!page.read_mostly) break;
      page.read_mostly = false;
      place_on(page, place.type == Type::None ? ManagedPlace{Type::Host, 0} : place, false);
      break;
    case ACL_MEM_ADVISE_SET_PREFERRED_LOCATION:
      page.preferred = place.type;
      page.preferred_id = place.id;
      if (page.read_mostly) {
        if (place.type == Type::Device) place_on(page, place, true);
      } else if (!is_anywhere(page, address)) {
        place_on(page, place, false);
      }
      break;
    case ACL_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      page.preferred = Type::None;
      page.preferred_id = 0;
      break;
    case ACL_MEM_ADVISE_SET_ACCESSED_BY:
    case ACL_MEM_ADVISE_UNSET_ACCESSED_BY:
      if (place.type == Type::Host) {
        page.by_host = sets;
      } else {
        std::uint64_t& by = place.type == Type::Device ? page.by_devices : page.by_nodes;
        by = sets ? by | bit(place.id) : by & ~bit(place.id);
      }
      if (sets) make_where_both_are();
      break;
  }
}

Status ManagedMemory::advise(std::uintptr_t start, std::size_t bytes, aclrtMemManagedAdviseType advice,
                             const ManagedPlace& place) {
  const std::unique_lock lock{mutex_};
  if (!all_alive(start, bytes)) return not_alive(start, bytes);
  const bool needs_place = advice == ACL_MEM_ADVISE_SET_PREFERRED_LOCATION ||
                           advice == ACL_MEM_ADVISE_SET_ACCESSED_BY ||
                           advice == ACL_MEM_ADVISE_UNSET_ACCESSED_BY;
  if (needs_place && place.type == Type::None) {
    return driver_refuses("V-293", "this advice needs a place, and the location is INVALID",
                          "set location.type to ACL_MEM_LOCATIONTYPE_DEVICE, _HOST or _HOST_NUMA");
  }
  if (advice == ACL_MEM_ADVISE_SET_PREFERRED_LOCATION) {
    std::uintptr_t at_fault = 0;
    each_page(start, bytes, [&](const Page& page, std::uintptr_t address) {
      if (conflicts(page, address, place)) at_fault = address;
      return at_fault == 0;
    });
    if (at_fault != 0) {
      return driver_refuses(
          "V-301",
          fmt::format("the page {} has memory elsewhere already, so {} cannot become its preferred "
                      "location",
                      hex(at_fault),
                      place.is_host_side() ? std::string{"the host"} : fmt::format("device {}", place.id)),
          "give the advice before the memory is first used, or prefetch it there first");
    }
  }
  each_page(start, bytes, [&](Page& page, std::uintptr_t address) {
    apply(page, address, advice, place);
    return true;
  });
  return done();
}

Result<std::vector<std::int32_t>> ManagedMemory::query(aclrtMemManagedRangeAttribute attribute,
                                                       std::uintptr_t start, std::size_t bytes,
                                                       std::size_t count) const {
  const std::shared_lock lock{mutex_};
  if (!all_alive(start, bytes)) return not_alive(start, bytes);
  // What all pages have in common.
  bool read_mostly = true, by_host = true, first = true, same_preferred = true, same_prefetched = true;
  std::uint64_t by_devices = ~std::uint64_t{0}, by_nodes = ~std::uint64_t{0};
  ManagedPlace preferred, prefetched;
  each_page(start, bytes, [&](const Page& page, std::uintptr_t) {
    const ManagedPlace its_preferred{page.preferred, page.preferred_id};
    const ManagedPlace its_prefetched{page.prefetched, page.prefetched_id};
    if (first) {
      preferred = its_preferred;
      prefetched = its_prefetched;
    }
    first = false;
    same_preferred = same_preferred && preferred == its_preferred;
    same_prefetched = same_prefetched && prefetched == its_prefetched;
    read_mostly = read_mostly && page.read_mostly;
    by_host = by_host && page.by_host;
    by_devices &= page.by_devices;
    by_nodes &= page.by_nodes;
    return true;
  });
  if (!same_preferred) preferred = {};
  if (!same_prefetched) prefetched = {};
  const auto id = [](const ManagedPlace& place) {
    return place.type == Type::Device || place.type == Type::Node ? place.id : kNoPlace;
  };
  const auto location = [&](const ManagedPlace& place) {
    return place.type == Type::Host ? kHostAsPlace : id(place);
  };
  std::vector<std::int32_t> values(count, kNoPlace);
  switch (attribute) {
    case ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      values[0] = read_mostly ? 1 : 0;
      break;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      values[0] = location(preferred);
      break;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      values[0] = static_cast<std::int32_t>(preferred.type);
      break;
    case ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      values[0] = id(preferred);
      break;
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      values[0] = location(prefetched);
      break;
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      values[0] = static_cast<std::int32_t>(prefetched.type);
      break;
    case ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      values[0] = id(prefetched);
      break;
    case ACL_MEM_RANGE_ATTRIBUTE_ACCESSED_BY: {
      std::size_t filled = 0;
      const auto add = [&](std::int32_t one) {
        if (filled < count) values[filled++] = one;
      };
      for (std::uint64_t left = by_devices; left != 0; left &= left - 1) add(std::countr_zero(left));
      for (std::uint64_t left = by_nodes; left != 0; left &= left - 1) add(std::countr_zero(left));
      if (by_host) add(kHostAsPlace);
      break;
    }
  }
  return values;
}

}  // namespace belay
