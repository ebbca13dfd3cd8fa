#include "memory/mappings.h"

#include <array>
#include <iterator>
#include <utility>

#include "memory/reader_guard.h"
#include "observe/observe.h"

namespace belay {
namespace {

std::size_t heaps_of(std::size_t bytes) { return *round_up(bytes, kHeapBytes); }

}  // namespace

std::uintptr_t Mappings::take_in_shared_heap(std::size_t bytes, std::uintptr_t wished) {
  if (wished != 0) {
    if (!shared_heaps_.has(wished)) {
      const std::uintptr_t heap = round_down(wished, kHeapBytes);
      if (!map_.take_for_reservation(kHeapBytes, heap)) return 0;
      shared_heaps_.add(heap);
    }
    return shared_heaps_.take_at(wished, bytes) ? wished : 0;
  }
  if (const std::optional<std::uintptr_t> start = shared_heaps_.take(bytes)) return *start;
  const std::uintptr_t heap = map_.take_for_reservation(kHeapBytes, 0);
  if (heap == 0) return 0;
  shared_heaps_.add(heap);
  return *shared_heaps_.take(bytes);
}

// Also where somebody wishes for what was released before (V-72).
std::uintptr_t Mappings::take_addresses(std::size_t bytes, std::uintptr_t wished) {
  if (!table_.open()) return 0;
  const std::uintptr_t start = try_take(bytes, wished);
  if (start != 0 || quarantine_.empty()) return start;
  quarantine_.give_all([this](std::uintptr_t at, std::size_t length) { reuse(at, length); });
  return try_take(bytes, wished);
}

void Mappings::set_quarantine(std::size_t bytes) {
  const Lock held = lock();
  quarantine_.set_most(bytes, [this](std::uintptr_t start, std::size_t length) { reuse(start, length); });
}

std::uintptr_t Mappings::try_take(std::size_t bytes, std::uintptr_t wished) {
  if (bytes <= SharedHeaps::kMost) return take_in_shared_heap(bytes, wished);
  if (const std::uintptr_t start = map_.take_for_reservation(heaps_of(bytes), wished)) return start;
  // An empty heap that is kept for small ones may be all that is in the way.
  bool any = false;
  while (const std::optional<std::uintptr_t> heap = shared_heaps_.drop_empty(0)) {
    map_.give_from_reservation(*heap, kHeapBytes);
    any = true;
  }
  return any ? map_.take_for_reservation(heaps_of(bytes), wished) : 0;
}

Reservation* Mappings::reserve(std::size_t bytes, std::uintptr_t wished, const Lock&) {
  std::map<std::uintptr_t, Reservation> made;  // before anything is taken: this may throw
  made[0] = {0, *round_up(bytes, kMappingUnit), bytes, false, 0};
  auto entry = made.extract(made.begin());
  const std::uintptr_t start = take_addresses(entry.mapped().bytes, wished);
  if (start == 0) return nullptr;
  entry.key() = entry.mapped().start = start;
  entry.mapped().serial = observe::next_serial();
  return &reservations_.insert(std::move(entry)).position->second;
}

Reservation* Mappings::reserve_outside(std::size_t bytes, std::uintptr_t wished, const Lock& held) {
  if (map_.contains(wished)) {
    Reservation* inside = reserve(bytes, wished, held);
    if (inside != nullptr) inside->outside = true;
    return inside;
  }
  // Before anything is taken: these may throw.
  auto range_entry = std::map<std::uintptr_t, platform::AddressRange>{{wished, {}}}.extract(wished);
  auto entry =
      std::map<std::uintptr_t, Reservation>{{wished, {wished, bytes, bytes, true, observe::next_serial()}}}
          .extract(wished);
  const std::array<platform::AddressWish, 1> wish{{{wished, bytes}}};
  // Not numbers alone: nobody but the kernel knows what else lies there.
  const platform::AddressRange range = platform::reserve_addresses(wish, true);
  if (range.base != wished) return nullptr;
  if (!table_.add(wished, bytes)) {
    platform::release_addresses(range);
    return nullptr;
  }
  range_entry.mapped() = range;
  outside_.insert(std::move(range_entry));
  return &reservations_.insert(std::move(entry)).position->second;
}

void Mappings::release(const Reservation& reservation, const Lock&) {
  const std::uintptr_t start = reservation.start;
  const std::size_t bytes = reservation.bytes;
  reservations_.erase(start);
  if (const auto found = outside_.find(start); found != outside_.end()) {
    table_.remove(start);
    platform::release_addresses(found->second);
    outside_.erase(found);
  } else {
    quarantine_.put(start, bytes, [this](std::uintptr_t at, std::size_t length) { reuse(at, length); });
  }
}

void Mappings::reuse(std::uintptr_t start, std::size_t bytes) {
  if (bytes > SharedHeaps::kMost) return map_.give_from_reservation(start, heaps_of(bytes));
  shared_heaps_.give(start, bytes);
  // One is kept: whoever reserves and releases does so again.
  if (const std::optional<std::uintptr_t> heap = shared_heaps_.drop_empty(1))
    map_.give_from_reservation(*heap, kHeapBytes);
}

Reservation* Mappings::around(std::uintptr_t address, const Lock&) {
  auto next = reservations_.upper_bound(address);
  if (next == reservations_.begin()) return nullptr;
  Reservation& found = std::prev(next)->second;
  return address - found.start < found.bytes ? &found : nullptr;
}

void Mappings::make_room(const Lock&) {
  if (all_.size() == all_.capacity()) all_.reserve(2 * all_.size() + 16);
}

Mapping& Mappings::map(std::unique_ptr<Mapping> mapping, const Lock& held) {
  make_room(held);
  mapping->place = all_.size();
  all_.push_back(mapping.get());
  Mapping& made = *mapping.release();
  ++made.inside->mappings;
  made.inside->was_mapped = true;
  table_.publish(made.start, made.bytes, &made);
  return made;
}

std::unique_ptr<Mapping> Mappings::take(Mapping& mapping, const Lock&) {
  table_.publish(mapping.start, mapping.bytes, nullptr);
  all_.back()->place = mapping.place;
  std::swap(all_[mapping.place], all_.back());
  all_.pop_back();
  --mapping.inside->mappings;
  return std::unique_ptr<Mapping>{&mapping};
}

Mapping* Mappings::containing(std::uintptr_t address, const Lock&) const {
  return const_cast<Mapping*>(at(address));  // it stays as long as the lock is held
}

Mapping* Mappings::starting_at(std::uintptr_t start, const Lock& held) const {
  Mapping* found = containing(start, held);
  return found != nullptr && found->start == start ? found : nullptr;
}

std::uintptr_t Mappings::reserve(std::size_t bytes, std::uintptr_t wished) {
  const Reservation* made = reserve(bytes, wished, lock());
  return made == nullptr ? 0 : made->start;
}

bool Mappings::release(std::uintptr_t start) {
  const Lock held = lock();
  const Reservation* found = around(start, held);
  if (found == nullptr || found->start != start || found->mappings != 0) return false;
  release(*found, held);
  return true;
}

bool Mappings::map(std::uintptr_t start, std::size_t bytes, ExtentPtr extent, std::size_t offset,
                   bool writable) {
  const Lock held = lock();
  Reservation* inside = around(start, held);
  if (inside == nullptr || bytes > inside->start + inside->bytes - start || anything_in(start, bytes, held))
    return false;
  auto mapping = std::make_unique<Mapping>();
  mapping->start = start;
  mapping->bytes = bytes;
  mapping->extent = std::move(extent);
  mapping->offset = offset;
  mapping->asked = bytes;
  mapping->writable = writable;
  mapping->serial = observe::next_serial();
  mapping->inside = inside;
  map(std::move(mapping), held);
  return true;
}

ExtentPtr Mappings::unmap(std::uintptr_t start) {
  std::unique_ptr<Mapping> mapping;
  {
    const Lock held = lock();
    Mapping* found = starting_at(start, held);
    if (found == nullptr) return nullptr;
    mapping = take(*found, held);
  }
  ReaderGuard::wait_for_readers();
  return mapping->extent;
}

void Mappings::close() {
  const Lock held = lock();
  for (const auto& [start, range] : outside_) platform::release_addresses(range);
  outside_.clear();
  reservations_.clear();
}

}  // namespace belay
