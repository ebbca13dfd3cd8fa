// plan() for the requests that come over and over: what it says about a policy, as a few numbers.
//
// Only what cannot be refused has a rule here; everything else goes to plan() itself. A test holds the two
// against each other.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "memory/heap_map.h"
#include "memory/plan.h"

namespace belay {

inline constexpr std::uint8_t kModuleRuntime = 7;
inline constexpr std::uint8_t kModuleApp = 33;

// Requests that are served by one kind of page.
struct Lane {
  std::size_t add = 0;     // padding, and what rounding up needs
  std::size_t mask = 0;    // of whole pages
  std::uint64_t word = 0;  // of a block (heap_map.h), but for its size

  constexpr std::size_t footprint(std::size_t size) const { return (size + add) & mask; }
  // The word, but for what was asked for.
  constexpr std::uint64_t word_of(std::size_t size) const {
    return word | footprint(size) / 4_KiB << BlockWord::kUnitsShift;
  }
};

struct WarmRule {
  std::size_t most = 0;          // larger requests, and those of 0 bytes, go to plan()
  std::size_t normal_up_to = 0;  // those beyond have the second lane
  std::array<Lane, 2> lanes{};

  constexpr const Lane& lane(std::size_t size) const { return lanes[size > normal_up_to ? 1 : 0]; }
};

// What HUGE_FIRST is served with, as one number each: blocks on 4 KB pages up to 1 MB and padding, and on 2
// MB pages up to 1 GB and padding.
struct Routes {
  static constexpr std::size_t kMostBytes = 1_GiB;
  static constexpr std::size_t kNormal = kPolicyRules[0].normal_up_to / 4_KiB + 2;
  static constexpr std::size_t kHuge = kMostBytes / 2_MiB + 2;
  static constexpr std::size_t kCount = kNormal + kHuge;
  static constexpr std::size_t kNone = 0;  // no block has no pages
  static constexpr std::size_t of(Page page, std::size_t footprint, bool p2p) {
    const std::size_t pages = footprint / page_bytes(page);
    if (p2p || page == Page::Huge1G || pages >= (page == Page::Normal ? kNormal : kHuge)) return kNone;
    return page == Page::Normal ? pages : kNormal + pages;
  }
};
// How a function gets there.
struct Home {
  std::size_t normal_add = 0, huge_add = 0;
  constexpr std::size_t normal_route(std::size_t size) const { return (size + normal_add) / 4_KiB; }
  constexpr std::size_t huge_route(std::size_t size) const {
    return (size + huge_add) / 2_MiB + Routes::kNormal;
  }
};

class WarmRules {
 public:
  constexpr WarmRules() = default;  // none
  constexpr WarmRules(const ProductRow& product, Form form) {
    for (const Api api : {Api::Malloc, Api::MallocAlign32, Api::MallocCached}) {
      for (std::uint32_t policy = 0; policy < kPolicies; ++policy)
        rules_[static_cast<std::size_t>(api)][policy] = rule(api, policy, product, form);
    }
  }

  constexpr bool any() const { return rules_[0][0].most != 0; }
  // For Malloc, MallocAlign32 and MallocCached, and policies below kPolicies: those without 1 GB pages.
  static constexpr std::uint32_t kPolicies = 6;
  constexpr const WarmRule& of(Api api, std::uint32_t policy) const {
    return rules_[static_cast<std::size_t>(api)][policy];
  }
  constexpr Home home(Api api) const { return {of(api, 0).lanes[0].add, of(api, 0).lanes[1].add}; }

 private:
  static constexpr std::size_t kMost = 64_GiB;

  static constexpr Lane lane(Api api, const PolicyRule& policy, Page page, const ProductRow& product) {
    const std::size_t unit = page_bytes(page);
    return {(pads(api, page, product) ? 32 : 0) + unit - 1, ~(unit - 1),
            BlockWord::flags(page, Origin::Malloc, kModuleApp, false, policy.p2p)};
  }
  static constexpr WarmRule rule(Api api, std::uint32_t policy, const ProductRow& product, Form form) {
    const bool small = plan(1, policy, api, product, form).ok;
    const bool large = plan(kMost, policy, api, product, form).ok;
    if (!small || !large || !has(product.product, Feature::AllButIpv)) return {};
    const PolicyRule& row = *decode(policy, api, product.product).rule;
    return {kMost,
            row.normal_up_to,
            {lane(api, row, row.normal_up_to == 0 ? row.first : Page::Normal, product),
             lane(api, row, row.first, product)}};
  }

  std::array<std::array<WarmRule, kPolicies>, 3> rules_{};
};

}  // namespace belay
