#include "memory/shared_heaps.h"

#include <algorithm>
#include <bit>

namespace belay {
namespace {

unsigned order_of(std::size_t units) { return static_cast<unsigned>(std::bit_width(units - 1)); }

}  // namespace

// The lowest free run of 2^order units at a multiple of its length.
std::optional<std::size_t> SharedHeaps::find(const Heap& heap, unsigned order) {
  if (order >= 6) {
    const std::size_t words = std::size_t{1} << (order - 6);
    for (std::size_t word = 0; word < heap.taken.size(); word += words) {
      const auto from = heap.taken.begin() + static_cast<std::ptrdiff_t>(word);
      if (std::all_of(from, from + static_cast<std::ptrdiff_t>(words), [](auto w) { return w == 0; }))
        return word * 64;
    }
    return std::nullopt;
  }
  // Bits at multiples of the length: every bit, every second, every fourth …
  constexpr std::array<std::uint64_t, 6> kStarts{~0ULL,
                                                 0x5555555555555555ULL,
                                                 0x1111111111111111ULL,
                                                 0x0101010101010101ULL,
                                                 0x0001000100010001ULL,
                                                 0x0000000100000001ULL};
  for (std::size_t word = 0; word < heap.taken.size(); ++word) {
    std::uint64_t free = ~heap.taken[word];
    for (unsigned step = 0; step < order; ++step) free &= free >> (1U << step);
    free &= kStarts[order];
    if (free != 0) return word * 64 + static_cast<std::size_t>(std::countr_zero(free));
  }
  return std::nullopt;
}

void SharedHeaps::mark(Heap& heap, std::size_t first, std::size_t units, bool taken) {
  for (std::size_t at = first; at < first + units;) {
    const std::size_t part = std::min(first + units - at, 64 - at % 64);
    const std::uint64_t bits = (part == 64 ? ~0ULL : (1ULL << part) - 1) << at % 64;
    heap.taken[at / 64] = taken ? heap.taken[at / 64] | bits : heap.taken[at / 64] & ~bits;
    at += part;
  }
}

void SharedHeaps::file(Entry& entry) {
  Heap& heap = entry.second;
  unsigned room = kOrders;
  while (room > 0 && !find(heap, room - 1)) --room;
  if (room == heap.largest) return;
  auto node = by_room_[heap.largest].extract(entry.first);
  by_room_[room].insert(std::move(node));
  heap.largest = room;
}

void SharedHeaps::add(std::uintptr_t heap) {
  heaps_.emplace(heap, Heap{});
  try {
    by_room_[kOrders].insert(heap);
  } catch (...) {
    heaps_.erase(heap);
    throw;
  }
}

std::optional<std::uintptr_t> SharedHeaps::take(std::size_t bytes) {
  const unsigned order = order_of(bytes / kUnit);
  for (unsigned room = order + 1; room <= kOrders; ++room) {
    if (by_room_[room].empty()) continue;
    Entry& entry = *heaps_.find(*by_room_[room].begin());
    const std::size_t first = *find(entry.second, order);
    mark(entry.second, first, bytes / kUnit, true);
    file(entry);
    return entry.first + first * kUnit;
  }
  return std::nullopt;
}

bool SharedHeaps::take_at(std::uintptr_t start, std::size_t bytes) {
  const auto found = heaps_.find(round_down(start, kHeap));
  if (found == heaps_.end() || bytes > found->first + kHeap - start) return false;
  const std::size_t first = (start - found->first) / kUnit;
  for (std::size_t at = first; at < first + bytes / kUnit; ++at) {
    if ((found->second.taken[at / 64] >> at % 64 & 1) != 0) return false;
  }
  mark(found->second, first, bytes / kUnit, true);
  file(*found);
  return true;
}

void SharedHeaps::give(std::uintptr_t start, std::size_t bytes) {
  Entry& entry = *heaps_.find(round_down(start, kHeap));
  mark(entry.second, (start - entry.first) / kUnit, bytes / kUnit, false);
  file(entry);
}

std::optional<std::uintptr_t> SharedHeaps::drop_empty(std::size_t but) {
  std::set<std::uintptr_t>& empty = by_room_[kOrders];
  if (empty.size() <= but) return std::nullopt;
  const std::uintptr_t last = *empty.rbegin();
  empty.erase(last);
  heaps_.erase(last);
  return last;
}

}  // namespace belay
