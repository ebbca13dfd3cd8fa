// What virtual memory should be: which address leads to which memory, who holds it, and what it contains.
//
// Contents are known at the borders of stripes of 64 KB: the last 8 bytes before each and the first 8 after
// it. Copies and fills cover whole stripes, so a wrong byte anywhere shows at one of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "support/virtual_memory.h"

namespace belay_test {

class VirtualModel {
 public:
  static constexpr std::size_t kStripe = 64 * kKB;
  static constexpr int kHost = -1, kNobody = -2;

  using Word = std::optional<std::uint64_t>;
  struct Stripe {
    Word first, last;
  };
  struct Memory {
    aclrtDrvMemHandle handle = nullptr;
    int place = 0;  // a device, or the host
    std::size_t bytes = 0;
    int references = 1, mappings = 0;
    std::vector<Stripe> stripes;
    bool live() const { return references + mappings > 0; }
  };
  using MemoryPtr = std::shared_ptr<Memory>;
  struct Mapping {
    std::size_t bytes = 0;
    MemoryPtr memory;
    bool accessible = true;
    std::array<bool, 4> granted{};  // three devices and the host
  };
  struct Reservation {
    std::size_t bytes = 0;
    int bound = kNobody;
  };

  std::map<std::uintptr_t, Reservation> reservations;
  std::map<std::uintptr_t, Mapping> mappings;
  std::vector<MemoryPtr> memories;  // live ones

  template <typename Table>
  static auto around(Table& table, std::uintptr_t where) {
    auto next = table.upper_bound(where);
    if (next == table.begin()) return table.end();
    --next;
    return where - next->first < next->second.bytes ? next : table.end();
  }
  template <typename Table>
  static bool any_in(const Table& table, std::uintptr_t start, std::size_t bytes) {
    const auto next = table.upper_bound(start + bytes - 1);
    return next != table.begin() && std::prev(next)->first + std::prev(next)->second.bytes > start;
  }
  bool mapped_in(std::uintptr_t start, std::size_t bytes) const { return any_in(mappings, start, bytes); }
  bool reserved_in(std::uintptr_t start, std::size_t bytes) const {
    return any_in(reservations, start, bytes);
  }
  std::size_t used(int device) const {
    std::size_t sum = 0;
    for (const MemoryPtr& memory : memories) sum += memory->place == device ? memory->bytes : 0;
    return sum;
  }

  int map_answer(std::uintptr_t where, std::size_t bytes, const Memory& memory) const {
    if (!memory.live()) return kBadValue;
    const auto found = around(reservations, where);
    if (found == reservations.end()) return kRefused;
    if (where % k2MB != 0 || bytes % k2MB != 0) return kRefused;
    if (bytes > found->first + found->second.bytes - where) return kRefused;
    if (mapped_in(where, bytes)) return kRefused;
    if (found->second.bound != kNobody && found->second.bound != memory.place) return kRefused;
    return bytes == memory.bytes ? 0 : kBadValue;
  }
  void map(std::uintptr_t where, const MemoryPtr& memory, bool accessible) {
    Mapping mapping{memory->bytes, memory, accessible, {}};
    if (accessible) mapping.granted[slot(memory->place)] = true;
    mappings[where] = mapping;
    around(reservations, where)->second.bound = memory->place;
    ++memory->mappings;
  }
  void unmap(std::uintptr_t where) {
    const MemoryPtr memory = mappings.at(where).memory;
    mappings.erase(where);
    --memory->mappings;
    forget_dead();
  }
  int free_answer(const Memory& memory) const { return memory.references > 0 ? 0 : kBadValue; }
  void free(Memory& memory) {
    --memory.references;
    forget_dead();
  }
  int release_answer(std::uintptr_t where) const {
    const auto found = reservations.find(where);
    if (found == reservations.end()) return kBadValue;
    return mapped_in(where, found->second.bytes) ? kRefused : 0;
  }
  int retain_answer(std::uintptr_t where) const {
    if (mappings.contains(where)) return 0;
    const auto found = around(reservations, where);
    return found != reservations.end() && found->second.bound != kNobody ? kRefused : kStale;
  }
  // The device is closed (V-42).
  void reset(int device) {
    std::erase_if(mappings, [&](const auto& each) { return each.second.memory->place == device; });
    for (const MemoryPtr& memory : memories) {
      if (memory->place == device) memory->references = memory->mappings = 0;
    }
    forget_dead();
  }

  // Whether every byte can be reached; ranges lie inside one reservation.
  bool reachable(std::uintptr_t where, std::size_t bytes) const {
    while (bytes > 0) {
      const auto found = around(mappings, where);
      if (found == mappings.end() || !found->second.accessible) return false;
      const std::size_t here = std::min(bytes, found->first + found->second.bytes - where);
      where += here;
      bytes -= here;
    }
    return true;
  }
  Stripe& stripe(std::uintptr_t where) {
    const auto found = around(mappings, where);
    return found->second.memory->stripes[(where - found->first) / kStripe];
  }
  std::vector<Stripe> read(std::uintptr_t where, std::size_t bytes) {
    std::vector<Stripe> all;
    for (std::size_t offset = 0; offset < bytes; offset += kStripe) all.push_back(stripe(where + offset));
    return all;
  }
  void write(std::uintptr_t where, const std::vector<Stripe>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) stripe(where + i * kStripe) = all[i];
  }
  static std::size_t slot(int place) { return place == kHost ? 3 : static_cast<std::size_t>(place); }

 private:
  void forget_dead() {
    std::erase_if(memories, [](const MemoryPtr& memory) { return !memory->live(); });
  }
};

}  // namespace belay_test
