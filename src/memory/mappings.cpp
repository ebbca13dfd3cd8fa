#include "memory/mappings.h"

#include <iterator>
#include <utility>

#include "memory/reader_guard.h"

namespace belay {

std::uintptr_t Mappings::reserve(std::size_t bytes, std::uintptr_t wished) {
  const std::lock_guard lock{mutex_};
  auto entry = Reservations{{0, bytes}}.extract(0);  // before anything is taken: this may throw
  const std::uintptr_t start = map_.open_reservation(bytes, wished);
  if (start == 0) return 0;
  entry.key() = start;
  reservations_.insert(std::move(entry));
  return start;
}

Mappings::Reservations::const_iterator Mappings::around(std::uintptr_t address) const {
  auto next = reservations_.upper_bound(address);
  if (next == reservations_.begin()) return reservations_.end();
  const auto found = std::prev(next);
  return address - found->first < found->second ? found : reservations_.end();
}

bool Mappings::anything_in(std::uintptr_t start, std::size_t bytes) const {
  const auto next = mappings_.lower_bound(start);
  if (next != mappings_.end() && next->first < start + bytes) return true;
  if (next == mappings_.begin()) return false;
  const Mapping& before = *std::prev(next)->second;
  return before.start + before.bytes > start;
}

bool Mappings::release(std::uintptr_t start) {
  const std::lock_guard lock{mutex_};
  const auto found = reservations_.find(start);
  if (found == reservations_.end() || anything_in(start, found->second)) return false;
  map_.close_whole(start, found->second);
  reservations_.erase(found);
  return true;
}

bool Mappings::map(std::uintptr_t start, std::size_t bytes, ExtentPtr extent, std::size_t offset,
                   bool writable) {
  const std::lock_guard lock{mutex_};
  const auto inside = around(start);
  if (inside == reservations_.end() || bytes > inside->first + inside->second - start) return false;
  if (anything_in(start, bytes)) return false;
  auto made = std::make_unique<Mapping>(
      Mapping{start, bytes, std::move(extent), offset, writable, observe::next_serial()});
  const Mapping* mapping = made.get();
  mappings_.emplace(start, std::move(made));
  map_.publish_mapping(start, bytes, mapping);
  return true;
}

ExtentPtr Mappings::unmap(std::uintptr_t start) {
  std::unique_ptr<Mapping> mapping;
  {
    const std::lock_guard lock{mutex_};
    const auto found = mappings_.find(start);
    if (found == mappings_.end()) return nullptr;
    mapping = std::move(found->second);
    mappings_.erase(found);
    map_.publish_mapping(start, mapping->bytes, nullptr);
  }
  ReaderGuard::wait_for_readers();
  return mapping->extent;
}

}  // namespace belay
