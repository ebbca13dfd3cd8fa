// The few numbers of the fast path say what plan() says, wherever they say anything.
#include "memory/fast_rules.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "fastpath/fast_path.h"
#include "support/properties.h"

namespace belay {
namespace fast_rules_test {

constexpr Api kApis[] = {Api::Malloc, Api::MallocAlign32, Api::MallocCached};
constexpr Form kForms[] = {Form::EP, Form::RC, Form::OpenCtrlCpu};

// Every documented one with every combination of its flags, and what is none.
std::vector<std::uint32_t> all_policies() {
  std::vector<std::uint32_t> all{8, 9, 99, 0xFF, 0x200, 0x2000, 0x200000, 0x40000006, UINT32_MAX};
  for (std::uint32_t base = 0; base < 8; ++base) {
    for (const std::uint32_t bandwidth : {0U, 0x100U, 0x1000U, 0x1100U}) {
      for (const std::uint32_t read_only : {0U, 0x100000U}) all.push_back(base | bandwidth | read_only);
    }
  }
  return all;
}

bool serves(const FastRule& rule, std::size_t size) { return size - 1 < rule.most; }

// What the fast path would store for a block that plan() decided about.
std::uint64_t word_of(const Plan& plan) {
  return BlockWord{plan.footprint / 4_KiB, plan.asked, plan.page, Origin::Malloc, plan.read_only, plan.p2p}
      .pack();
}

// Empty if the two agree about this request, else in what they differ. `served` counts what the rules serve.
std::string difference(const ProductRow& row, Form form, const FastRules& rules, Api api,
                       std::uint32_t policy, std::size_t size, std::size_t* served = nullptr) {
  const PlanResult planned = plan(size, policy, api, row, form);
  const FastRule& rule = rules.of(api, policy);
  const auto which = [&](const std::string& what) {
    return std::string{row.key} + ", form " + std::to_string(static_cast<int>(form)) + ", function " +
           std::to_string(static_cast<int>(api)) + ", policy " + std::to_string(policy) + ", " +
           std::to_string(size) + " bytes: " + what;
  };
  if (!serves(rule, size)) return {};
  if (served != nullptr) ++*served;
  if (!planned) return which(std::string{"served, though refused by "} + planned.refusal.rule);
  const auto [word, size_class] = rule.with_fit(size, [&](const PageFit& fit) {
    return std::pair{fit.word_of(size), fit.size_class(size)};
  });
  const std::uint64_t slack = planned->footprint - size;
  if ((word | slack << rule.slack_shift()) != word_of(*planned)) return which("word");
  if (size_class < SizeClass::kCount ? size_class != SizeClass::of(word)
                                     : SizeClass::of(word) < SizeClass::kCount)
    return which("size class");
  return {};
}

// Around every line that a rule draws, and the multiples of both pages.
std::vector<std::size_t> edges(const FastRule& rule) {
  std::vector<std::size_t> middles{
      0,     1,     32,        64,     4_KiB - 64, 4_KiB - 32, 4_KiB,         8_KiB,         64_KiB,
      1_MiB, 2_MiB, rule.most, 64_GiB, 255_GiB,    256_GiB,    SIZE_MAX - 64, SIZE_MAX - 32, SIZE_MAX - 1};
  for (std::size_t i = 1; i <= 40; ++i) {
    middles.push_back(i * 4_KiB);
    middles.push_back(i * 4_KiB - 32);
    middles.push_back(i * 1_MiB);
    middles.push_back(i * 2_MiB);
    middles.push_back(i * 2_MiB - 32);
  }
  for (const std::size_t far : {1_GiB, 4_GiB, 32_GiB, 64_GiB}) {
    middles.push_back(far - 2_MiB);
    middles.push_back(far - 32);
    middles.push_back(far);
  }
  std::vector<std::size_t> all;
  for (const std::size_t middle : middles) {
    for (const std::size_t by : {SIZE_MAX, std::size_t{0}, std::size_t{1}}) all.push_back(middle + by);
  }
  return all;
}

TEST(FastRules, M34_M48_M49_M50_M51_M52_M53_M54_M55_M56_M57_M62_M79_M424_AtEveryEdge_WhatPlanSays) {
  std::size_t served = 0;
  for (const ProductRow& row : products()) {
    for (const Form form : kForms) {
      const FastRules rules{row, form};
      for (const Api api : kApis) {
        for (const std::uint32_t policy : all_policies()) {
          for (const std::size_t size : edges(rules.of(api, policy)))
            ASSERT_EQ(difference(row, form, rules, api, policy, size, &served), "");
        }
      }
    }
  }
  EXPECT_GT(served, 10000U) << "rules that serve nothing agree with everything";
}

TEST(FastRules, M34_M79_AtAnySize_WhatPlanSays) {
  EXPECT_TRUE(belay_test::holds(
      "what plan says", 50, 3000, [](std::uint64_t bits, std::uint8_t shift, std::uint8_t near) {
        // Sizes of every magnitude, and some close to a multiple of a page.
        const std::size_t any = bits >> shift % 64;
        const std::size_t sizes[] = {any, any % 8_MiB, any % 128_GiB, any / 4_KiB * 4_KiB + near % 97 - 64,
                                     any % 64_GiB / 2_MiB * 2_MiB + near % 97 - 64};
        for (const ProductRow& row : products()) {
          for (const Form form : kForms) {
            const FastRules rules{row, form};
            for (const Api api : kApis) {
              for (const std::uint32_t policy : all_policies()) {
                for (const std::size_t size : sizes) {
                  const std::string wrong = difference(row, form, rules, api, policy, size);
                  if (!wrong.empty()) RC_FAIL(wrong);
                }
              }
            }
          }
        }
      }));
}

// What is refused whatever the size must not be served even once.
TEST(FastRules, M67_M69_M82_M83_WhatPlanRefuses_HasNoRule) {
  for (const ProductRow& row : products()) {
    for (const Form form : kForms) {
      const FastRules rules{row, form};
      for (const Api api : kApis) {
        for (const std::uint32_t policy : all_policies()) {
          const FastRule& rule = rules.of(api, policy);
          EXPECT_FALSE(serves(rule, 0)) << row.key;
          EXPECT_FALSE(serves(rule, SIZE_MAX)) << row.key;
          if (!plan(1, policy, api, row, form)) {
            EXPECT_EQ(rule.most, 0U) << row.key << " " << policy;
          }
          // Rounded up, it must still have a place in a block's word.
          if (rule.most != 0) {
            EXPECT_LT(rule.fits[1].pages(rule.most) << rule.fits[1].shift, 256_GiB);
          }
        }
      }
    }
  }
}

// Its function is missing there, which the plan does not know.
TEST(FastRules, M8_OnIpv350_ThereAreNone) {
  for (const Form form : kForms) {
    const FastRules rules{row_of(Product::IPV), form};
    for (const Api api : kApis) {
      for (const std::uint32_t policy : all_policies()) EXPECT_EQ(rules.of(api, policy).most, 0U) << policy;
    }
    EXPECT_FALSE(rules.any());
  }
}

TEST(FastRules, M48_M50_M51_TheEverydayPolicies_AreServedOnEveryOtherProduct) {
  for (const ProductRow& row : products()) {
    if (row.product == Product::IPV) continue;
    const FastRules rules{row, Form::EP};
    EXPECT_TRUE(rules.any()) << row.key;
    for (const Api api : kApis) {
      for (const std::uint32_t policy : {0U, 1U, 2U}) {
        EXPECT_TRUE(serves(rules.of(api, policy), 1)) << row.key << " " << policy;
        EXPECT_TRUE(serves(rules.of(api, policy), 1_GiB)) << row.key << " " << policy;
      }
    }
  }
}

// With every flag that goes with them.
TEST(FastRules, M55_M57_M424_EveryDocumentedPolicy_IsServedWherePlanServesIt) {
  std::size_t served = 0;
  for (const ProductRow& row : products()) {
    if (row.product == Product::IPV) continue;
    const FastRules rules{row, Form::EP};
    for (const Api api : {Api::Malloc, Api::MallocAlign32}) {
      for (const std::uint32_t policy : all_policies()) {
        if ((policy & ~0x101107U) != 0 || !plan(1, policy, api, row)) continue;
        EXPECT_TRUE(serves(rules.of(api, policy), 1)) << row.key << " " << policy;
        ++served;
      }
    }
  }
  EXPECT_GT(served, 200U);
}

// Blocks that differ in size, pages or kind have different size classes.
TEST(FastRules, M79_EveryKindOfBlock_HasASizeClassOfItsOwn) {
  std::vector<bool> seen(SizeClass::kCount);
  for (const Page page : {Page::Normal, Page::Huge2M, Page::Huge1G}) {
    const std::size_t count = SizeClass::count(page);
    for (const bool read_only : {false, true}) {
      for (const bool p2p : {false, true}) {
        for (std::size_t pages = 1; pages <= count + 1; ++pages) {
          const std::size_t bytes = pages * page_bytes(page);
          const std::uint64_t word =
              BlockWord{bytes / 4_KiB, bytes - 1, page, Origin::Malloc, read_only, p2p}.pack();
          const std::size_t size_class = SizeClass::of(word);
          if (page != Page::Huge1G) {
            ASSERT_EQ(SizeClass::of_small(word), size_class);
          }
          ASSERT_EQ(size_class >= SizeClass::kCount, pages >= count) << pages;
          if (pages >= count) continue;
          ASSERT_FALSE(seen[size_class]) << pages;
          seen[size_class] = true;
        }
      }
    }
  }
}

// What HUGE_FIRST is asked for most has a bin at once.
TEST(FastRules, M48_HugeFirst_HasASizeClassUpTo1GB) {
  for (const ProductRow& row : products()) {
    const FastRules rules{row, Form::EP};
    for (const Api api : kApis) {
      const FastRule& rule = rules.huge_first(api);
      for (const std::size_t size : edges(rule)) {
        if (!serves(rule, size) || size > fastpath::kMostByTable) continue;
        const std::size_t size_class =
            size <= rule.normal_up_to ? (size + rule.fits[0].add) / 4_KiB
                                      : (size + rule.fits[1].add) / 2_MiB + SizeClass::first(Page::Huge2M);
        ASSERT_EQ(SizeClass::of(word_of(*plan(size, 0, api, row))), size_class) << size;
      }
    }
  }
}

TEST(FastRules, M79_WithoutAProduct_NothingIsServed) {
  const FastRules none;
  EXPECT_FALSE(none.any());
  for (const Api api : kApis) {
    for (const std::uint32_t policy : all_policies()) {
      for (const std::size_t size : {std::size_t{0}, std::size_t{1}, 4_KiB, SIZE_MAX})
        EXPECT_FALSE(serves(none.of(api, policy), size));
    }
  }
}

}  // namespace fast_rules_test
}  // namespace belay
