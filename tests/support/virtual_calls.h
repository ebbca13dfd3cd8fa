// Random calls of virtual memory that make, map and end things, each compared with what the model says.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "support/slices.h"
#include "support/virtual_model.h"

namespace belay_test {

class VirtualCalls {
 public:
  static constexpr int kDevices = 3;

  // Alone: nobody else uses the process, so that dead handles and addresses may be tried as well.
  VirtualCalls(std::mt19937 random, std::size_t total, bool alone)
      : random_{random}, total_{total}, alone_{alone} {}

  std::size_t used(int device) const { return model_.used(device); }

  std::uint64_t steps = 0, refused = 0;

 protected:
  using Ptr = VirtualModel::MemoryPtr;
  static constexpr std::size_t kStripe = VirtualModel::kStripe;
  static constexpr int kHost = VirtualModel::kHost;

  std::uint32_t below(std::size_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  template <typename List>
  auto pick(List& list) {
    return std::next(list.begin(), static_cast<long>(below(list.size())));
  }
  void expect(int got, int expected, const char* what) {
    EXPECT_EQ(got, expected) << what << " in step " << steps << ", " << seed_text();
    if (expected != 0) ++refused;
  }

  void reserve_some() {
    if (model_.reservations.size() >= 12) return;
    const std::size_t size = 1 + below(24 * kMB), bytes = up_to(size, k2MB);
    void* place = nullptr;
    switch (below(8)) {
      case 0:
        return expect(reserve(&place, size, nullptr, 2), kBadArgument, "flags");
      case 1:
        return expect(aclrtReserveMemAddress(&place, size, k2MB, nullptr, 0), kBadValue, "alignment");
      case 2:
        if (model_.reservations.empty()) return;
        return expect(reserve(&place, 1, address(pick(model_.reservations)->first)), kRefused,
                      "a taken wish");
      case 3:
        return alone_ ? reserve_again() : void();
      default:
        break;
    }
    expect(reserve(&place, size, nullptr, below(2)), 0, "reserve");
    EXPECT_EQ(number(place) % k2MB, 0U);
    for (const auto& [start, other] : model_.reservations)
      EXPECT_TRUE(number(place) >= start + other.bytes || start >= number(place) + bytes) << "they overlap";
    model_.reservations[number(place)] = {bytes, VirtualModel::kNobody};
  }
  // At an address that was released, which somebody may have got since.
  void reserve_again() {
    if (released_.empty()) return;
    const auto [where, bytes] = *pick(released_);
    const std::size_t size = k2MB * (1 + below(bytes / k2MB));
    void* place = nullptr;
    const int expected = where % std::bit_ceil(size) != 0  ? kBadValue
                         : model_.reserved_in(where, size) ? kRefused
                                                           : static_cast<int>(ACL_SUCCESS);
    expect(reserve(&place, size, address(where)), expected, "a wish");
    if (expected != 0) return;
    EXPECT_EQ(place, address(where));
    model_.reservations[where] = {size, VirtualModel::kNobody};
  }
  void release() {
    if (model_.reservations.empty()) return;
    const auto& [start, place] = *pick(model_.reservations);
    std::uintptr_t where = start;
    if (below(6) == 0 && (alone_ || place.bytes > k2MB)) where += k2MB;
    if (alone_ && below(6) == 0 && !released_.empty()) where = pick(released_)->first;
    const int expected = model_.release_answer(where);
    expect(aclrtReleaseMemAddress(address(where)), expected, "release");
    if (expected != 0) return;
    released_.emplace_back(where, model_.reservations.at(where).bytes);
    model_.reservations.erase(where);
  }

  void create() {
    const int place =
        kHostCanBeMapped ? static_cast<int>(below(kDevices + 1)) - 1 : static_cast<int>(below(kDevices));
    const std::size_t size = 1 + below(8 * kMB), bytes = up_to(size, k2MB);
    const aclrtMemAttr attributes[] = {ACL_HBM_MEM_HUGE, ACL_HBM_MEM_NORMAL, ACL_MEM_HUGE,
                                       ACL_MEM_P2P_NORMAL};
    aclrtPhysicalMemProp prop = place == kHost
                                    ? of_host(attributes[below(4)])
                                    : of_device(static_cast<std::uint32_t>(place), attributes[below(4)]);
    const bool too_much = model_.used(place) + bytes > total_;
    if (too_much && (place == kHost || !alone_)) return;  // what others hold is not known here
    int expected = too_much ? kShortage : 0;
    if (below(12) == 0) {
      prop.reserve = 1;
      expected = kBadValue;
    }
    if (below(12) == 0) {
      prop.location.id = place == kHost ? 1 : kDevices;
      expected = place != kHost ? kBadDevice : expected == kBadValue ? expected : kUnsupported;
    }
    auto memory = std::make_shared<VirtualModel::Memory>();
    expect(aclrtMallocPhysical(&memory->handle, size, &prop, 0), expected, "create");
    if (expected != 0) return;
    memory->place = place;
    memory->bytes = bytes;
    memory->stripes.resize(bytes / kStripe);
    for (const Ptr& other : model_.memories) EXPECT_NE(other->handle, memory->handle);
    model_.memories.push_back(memory);
  }
  // A live one, or one that is dead and whose number nobody has got since.
  Ptr some_memory() {
    if (alone_ && below(10) == 0 && !dead_.empty()) {
      const Ptr memory = *pick(dead_);
      const auto same = [&](const Ptr& other) { return other->handle == memory->handle; };
      if (std::none_of(model_.memories.begin(), model_.memories.end(), same)) return memory;
    }
    return model_.memories.empty() ? nullptr : *pick(model_.memories);
  }
  void note(const Ptr& memory) {
    if (!memory->live()) dead_.push_back(memory);
    if (dead_.size() > 100) dead_.erase(dead_.begin());
  }
  void free_handle() {
    const Ptr memory = some_memory();
    if (memory == nullptr) return;
    const int expected = model_.free_answer(*memory);
    expect(aclrtFreePhysical(memory->handle), expected, "free");
    if (expected != 0) return;
    model_.free(*memory);
    note(memory);
  }

  std::uintptr_t some_address() {
    if (model_.reservations.empty()) return number(sentinel());
    const auto& [start, place] = *pick(model_.reservations);
    return start + below(place.bytes / k2MB) * k2MB;
  }
  void map_some() {
    const Ptr memory = some_memory();
    if (memory == nullptr) return;
    const std::uintptr_t where = some_address() + (below(20) == 0 ? kStripe : 0);
    std::size_t bytes = memory->bytes;
    if (below(12) == 0) bytes += k2MB;
    if (below(12) == 0 && bytes > k2MB) bytes -= k2MB;
    const std::size_t offset = below(30) == 0 ? k2MB : 0;
    const bool accessible = below(8) != 0;
    const int expected = offset != 0 ? kBadValue : model_.map_answer(where, bytes, *memory);
    expect(accessible ? aclrtMapMem(address(where), bytes, offset, memory->handle, 0)
                      : aclrtMemMapNoAccess(address(where), bytes, offset, memory->handle, 0),
           expected, "map");
    if (expected == 0) model_.map(where, memory, accessible);
  }
  void unmap() {
    const bool wrong = model_.mappings.empty() || below(5) == 0;
    const std::uintptr_t where = wrong ? some_address() : pick(model_.mappings)->first;
    const bool there = model_.mappings.contains(where);
    expect(aclrtUnmapMem(address(where)), there ? 0 : kRefused, "unmap");
    if (!there) return;
    const Ptr memory = model_.mappings.at(where).memory;
    model_.unmap(where);
    note(memory);
  }

  void access() {
    if (model_.mappings.empty()) return;
    auto& [start, mapping] = *pick(model_.mappings);
    const int place = mapping.accessible ? static_cast<int>(below(kDevices)) : mapping.memory->place;
    const std::size_t wrong = below(5) == 0 ? k2MB : 0;
    aclrtMemAccessDesc desc = place == kHost ? grant_host() : grant_device(static_cast<std::uint32_t>(place));
    expect(aclrtMemSetAccess(address(start), mapping.bytes + wrong, &desc, 1), wrong != 0 ? kRefused : 0,
           "grant");
    if (wrong == 0) {
      mapping.granted[VirtualModel::slot(place)] = true;
      mapping.accessible = true;
    }
    void* const inside = address(start + below(mapping.bytes));
    for (std::uint32_t device = 0; device < kDevices; ++device)
      EXPECT_EQ(access_of_device(inside, device), mapping.granted[device] ? 3U : 0U);
    EXPECT_EQ(access_of_host(inside), mapping.granted[3] ? 3U : 0U);
  }
  void retain() {
    const std::uintptr_t where =
        below(2) == 0 || model_.mappings.empty() ? some_address() : pick(model_.mappings)->first;
    const int expected = model_.retain_answer(where);
    aclrtDrvMemHandle handle = nullptr;
    expect(aclrtMemRetainAllocationHandle(address(where), &handle), expected, "retain");
    if (expected != 0) return;
    VirtualModel::Memory& memory = *model_.mappings.at(where).memory;
    EXPECT_EQ(handle, memory.handle);
    ++memory.references;
  }
  void ask() {
    const std::uintptr_t where = some_address() + below(k2MB);
    const auto found = VirtualModel::around(model_.mappings, where);
    const bool there = found != model_.mappings.end();
    void* base = nullptr;
    std::size_t bytes = 0;
    expect(aclrtMemGetAddressRange(address(where), &base, &bytes), there ? 0 : kBadValue, "address range");
    if (!there) return;
    EXPECT_EQ(base, address(found->first));
    EXPECT_EQ(bytes, found->second.bytes);
  }

  std::mt19937 random_;
  std::size_t total_;
  bool alone_;
  VirtualModel model_;
  std::vector<std::pair<std::uintptr_t, std::size_t>> released_;
  std::vector<Ptr> dead_;
};

}  // namespace belay_test
