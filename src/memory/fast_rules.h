// plan() for the requests that come over and over: what it says about a policy, as a few numbers.
//
// Only what cannot be refused has a rule here; everything else goes to plan() itself. A test holds the two
// against each other.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "memory/heap_map.h"
#include "memory/plan.h"

namespace belay {

// Blocks that a thread finds bins for at once, as one number: the kind of block (plain, read-only, P2P, both)
// and its size in pages. The same number for a size that is asked for and for the word of a block.
struct SizeClass {
  static constexpr std::size_t kNormal = 4_MiB / 4_KiB + 2, kHuge = 1_GiB / 2_MiB + 2, kGiant = 64 + 1;
  static constexpr unsigned kKindShift = 11;
  static constexpr std::size_t kCount = std::size_t{4} << kKindShift;
  static constexpr std::size_t count(Page page) {
    return page == Page::Normal ? kNormal : page == Page::Huge2M ? kHuge : kGiant;
  }

  static constexpr std::size_t kind(std::uint64_t word) { return (word & 6) << (kKindShift - 1); }
  static constexpr std::size_t first(Page page) {
    return page == Page::Normal ? 0 : page == Page::Huge2M ? kNormal : kNormal + kHuge;
  }
  // kCount or more: none. Of a block on 1 GB pages, whose size is written in another way, any number: its key
  // tells that the bin is not its own.
  static constexpr std::size_t of_small(std::uint64_t word) {
    const std::size_t units = BlockWord::unit_field(word);
    if (BlockWord::page_of(word) == Page::Normal) return units < kNormal ? kind(word) | units : kCount;
    return units / 512 < kHuge ? kind(word) | (kNormal + units / 512) : kCount;
  }
  static constexpr std::size_t of(std::uint64_t word) {
    if (BlockWord::page_of(word) != Page::Huge1G) return of_small(word);
    const std::size_t pages = BlockWord::units_of(word) / BlockWord::kGiantUnits;
    return pages < kGiant ? kind(word) | (kNormal + kHuge + pages) : kCount;
  }
};
static_assert(SizeClass::kNormal + SizeClass::kHuge + SizeClass::kGiant <= 1U << SizeClass::kKindShift);

// How requests fit pages of one kind.
struct PageFit {
  std::size_t add = 0;                                    // padding, and what rounding up needs
  std::uint64_t word = 0;                                 // of a block (heap_map.h), but for its size
  std::uint16_t first_class = 0, classes = 0, shift = 0;  // to the number of pages

  constexpr std::size_t pages(std::size_t size) const { return (size + add) >> shift; }
  // kCount: none.
  constexpr std::size_t size_class(std::size_t size) const {
    return pages(size) < classes ? first_class + pages(size) : SizeClass::kCount;
  }
  // But for what was asked for.
  constexpr std::uint64_t word_of(std::size_t size) const {
    const unsigned unit = BlockWord::page_of(word) == Page::Huge1G ? 30 : 12;
    return word | pages(size) << shift >> unit << BlockWord::kUnitsShift;
  }
};

struct alignas(64) FastRule {
  std::size_t most = 0;          // larger requests, and those of 0 bytes, go to plan()
  std::size_t normal_up_to = 0;  // those beyond fit the second kind of page
  std::array<PageFit, 2> fits{};

  constexpr unsigned slack_shift() const { return BlockWord::slack_shift(BlockWord::page_of(fits[1].word)); }
  // By a branch, so that the processor need not wait for the comparison to know which numbers it needs.
  template <class Use>
  constexpr auto with_fit(std::size_t size, Use&& use) const {
    if (size <= normal_up_to) return use(fits[0]);
    return use(fits[1]);
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
  constexpr const FastRule& huge_first(Api api) const { return rules_[static_cast<std::size_t>(api)][0]; }

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
    const std::size_t bytes = page_bytes(page);
    const std::uint64_t word = BlockWord::flags(page, Origin::Malloc, policy.read_only, policy.rule->p2p);
    return {(pads(api, page, product) ? 32 : 0) + bytes - 1, word,
            static_cast<std::uint16_t>(SizeClass::kind(word) | SizeClass::first(page)),
            static_cast<std::uint16_t>(SizeClass::count(page)),
            static_cast<std::uint16_t>(std::countr_zero(bytes))};
  }
  static constexpr FastRule rule(Api api, std::uint32_t number, const ProductRow& product, Form form) {
    const std::uint32_t policy = policy_of(number);
    const DecodedPolicy decoded = decode(policy, api, product.product);
    const PolicyRule& row = *decoded.rule;
    const bool small = plan(1, policy, api, product, form).ok;
    const bool large = plan(kMost, policy, api, product, form).ok;
    if (!small || !large || !has(product.product, Feature::AllButIpv)) return {};
    return {kMost,
            row.normal_up_to,
            {fit(api, decoded, row.normal_up_to == 0 ? row.first : Page::Normal, product),
             fit(api, decoded, row.first, product)}};
  }

  std::array<std::array<FastRule, kPolicies + 1>, 3> rules_{};
};

}  // namespace belay
