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

// How requests fit pages of one kind.
struct PageFit {
  std::size_t add = 0;      // padding, and what rounding up needs
  std::size_t mask = 0;     // of whole pages
  std::uint64_t word = 0;   // of a block (heap_map.h), but for its size
  unsigned unit_shift = 0;  // of the size in that word

  constexpr std::size_t footprint(std::size_t size) const { return (size + add) & mask; }
  // The word, but for what was asked for.
  constexpr std::uint64_t word_of(std::size_t size) const {
    return word | footprint(size) >> unit_shift << BlockWord::kUnitsShift;
  }
};

struct FastRule {
  std::size_t most = 0;          // larger requests, and those of 0 bytes, go to plan()
  std::size_t normal_up_to = 0;  // those beyond fit the second kind
  std::array<PageFit, 2> fits{};

  constexpr const PageFit& fit(std::size_t size) const { return fits[size > normal_up_to ? 1 : 0]; }
};

// The sizes that HUGE_FIRST is served with, as one number each: blocks on 4 KB pages up to 1 MB and padding,
// and on 2 MB pages up to 1 GB and padding. The same number for a size that is asked for, and for the word of
// a block.
struct SizeClass {
  static constexpr std::size_t kMostBytes = 1_GiB;
  static constexpr std::size_t kNormal = kPolicyRules[0].normal_up_to / 4_KiB + 2;
  static constexpr std::size_t kCount = kNormal + kMostBytes / 2_MiB + 2;

  // With what padding and rounding up add to the size.
  static constexpr std::size_t normal(std::size_t padded) { return padded / 4_KiB; }
  static constexpr std::size_t huge(std::size_t padded) { return padded / 2_MiB + kNormal; }
  // kCount or more: none. Of blocks on 1 GB pages, some number.
  static constexpr std::size_t of(std::uint64_t word) {
    const std::size_t units = BlockWord::unit_field(word);
    if (BlockWord::page_of(word) == Page::Normal) return units < kNormal ? units : kCount;
    return huge(units * 4_KiB);
  }
};

class FastRules {
 public:
  constexpr FastRules() = default;  // none
  constexpr FastRules(const ProductRow& product, Form form) {
    for (const Api api : {Api::Malloc, Api::MallocAlign32, Api::MallocCached}) {
      for (std::uint32_t policy = 0; policy < kPolicies; ++policy)
        rules_[static_cast<std::size_t>(api)][policy] = rule(api, policy, product, form);
    }
  }

  constexpr bool any() const { return rules_[0][0].most != 0; }
  // For Malloc, MallocAlign32 and MallocCached.
  constexpr const FastRule& of(Api api, std::uint32_t policy) const {
    return rules_[static_cast<std::size_t>(api)][number(api, policy)];
  }
  // What HUGE_FIRST adds to a size, for normal and for huge pages.
  struct Added {
    std::size_t normal = 0, huge = 0;
  };
  constexpr Added huge_first(Api api) const { return {of(api, 0).fits[0].add, of(api, 0).fits[1].add}; }

 private:
  static constexpr std::size_t kMost = 64_GiB;
  static constexpr std::uint32_t kReadOnly = ACL_MEM_ACCESS_USER_SPACE_READONLY;
  static constexpr std::uint32_t kBandwidth = ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH;
  // The documented policies, plain and read-only, and one that has no rule.
  static constexpr std::uint32_t kPolicies = 16, kNone = 16;

  // A wish for bandwidth changes nothing (M-57); the cached call compares the whole value (M-62).
  static constexpr std::uint32_t number(Api api, std::uint32_t policy) {
    const std::uint32_t base = policy & ~(kBandwidth | kReadOnly);
    if (base > 7 || (api == Api::MallocCached && base != policy)) return kNone;
    return (policy & kReadOnly) != 0 ? base + 8 : base;
  }
  static constexpr std::uint32_t policy_of(std::uint32_t number) {
    return number < 8 ? number : (number - 8) | kReadOnly;
  }

  static constexpr PageFit fit(Api api, const DecodedPolicy& policy, Page page, const ProductRow& product) {
    const std::size_t unit = page_bytes(page);
    return {(pads(api, page, product) ? 32 : 0) + unit - 1, ~(unit - 1),
            BlockWord::flags(page, Origin::Malloc, kModuleApp, policy.read_only, policy.rule->p2p),
            BlockWord::unit_shift(page)};
  }
  static constexpr FastRule rule(Api api, std::uint32_t number, const ProductRow& product, Form form) {
    const std::uint32_t policy = policy_of(number);
    const bool small = plan(1, policy, api, product, form).ok;
    const bool large = plan(kMost, policy, api, product, form).ok;
    if (!small || !large || !has(product.product, Feature::AllButIpv)) return {};
    const DecodedPolicy decoded = decode(policy, api, product.product);
    const PolicyRule& row = *decoded.rule;
    return {kMost,
            row.normal_up_to,
            {fit(api, decoded, row.normal_up_to == 0 ? row.first : Page::Normal, product),
             fit(api, decoded, row.first, product)}};
  }

  std::array<std::array<FastRule, kPolicies + 1>, 3> rules_{};
};

}  // namespace belay
