#include "memory/plan.h"

#include <gtest/gtest.h>

#include "support/properties.h"

namespace belay {
namespace plan_test {

constexpr Api kDeviceApis[] = {Api::Malloc, Api::MallocAlign32, Api::MallocCached, Api::MallocWithCfg,
                               Api::MallocForTaskScheduler};

// Whatever is asked for: what comes back covers it, in whole pages, without wrapping.
TEST(Plan, M79_M39_AnswersCoverTheRequestInWholePages) {
  EXPECT_TRUE(belay_test::holds(
      "answers cover the request in whole pages", 100, 10000,
      [](std::size_t size, std::uint32_t policy, std::uint8_t choice) {
        const std::size_t sizes[] = {size, size % 8_MiB, SIZE_MAX - size % 200,
                                     (size % 64) * 1_MiB + size % 3 - 1};
        for (const ProductRow& row : products()) {
          const Api api = kDeviceApis[choice % std::size(kDeviceApis)];
          const std::uint32_t policies[] = {policy, policy % 8, policy & 0x101107U};
          for (const std::size_t each : sizes) {
            for (const std::uint32_t p : policies) {
              const PlanResult result = plan(each, p, api, row);
              if (!result) {
                RC_ASSERT(result.refusal.code != ACL_SUCCESS);
                continue;
              }
              RC_ASSERT(result->bytes >= each);
              RC_ASSERT(result->bytes - each < 64U);
              RC_ASSERT(result->footprint >= result->bytes);
              RC_ASSERT(result->footprint - result->bytes < page_bytes(result->page));
              RC_ASSERT(result->footprint % page_bytes(result->page) == 0U);
              RC_ASSERT(result->footprint_when_short % page_bytes(result->when_short) == 0U);
            }
          }
        }
      }));
}

TEST(Plan, M424_TheTableOfCombinations) {
  const ProductRow& a2 = row_of(Product::A2);
  const auto decoded = [&](std::uint32_t policy) { return decode(policy, Api::Malloc, a2.product); };
  for (const std::uint32_t alone : {0x100U, 0x1000U, 0x1100U}) EXPECT_EQ(decoded(alone).rule->policy, 0U);
  for (std::uint32_t base = 0; base < 8; ++base) {
    for (const std::uint32_t wish : {0x0U, 0x100U, 0x1000U, 0x1100U}) {
      EXPECT_EQ(decoded(base | wish).rule->policy, base);
      EXPECT_FALSE(decoded(base | wish).read_only);
      EXPECT_EQ(decoded(base | wish | 0x100000U).rule->policy, base);
      EXPECT_TRUE(decoded(base | wish | 0x100000U).read_only);
    }
  }
  for (const std::uint32_t outside :
       {8U, 99U, 0x108U, 0x200U, 0x201U, 0x10000U, 0x100008U, 0x200000U, 0xFFFFFFFFU}) {
    EXPECT_EQ(decoded(outside).rule, &kOutOfRange) << std::hex << outside;
    EXPECT_FALSE(decoded(outside).read_only);
  }
}

TEST(Products, EveryRowCanBeChosenByKeyFamilyAndSocName) {
  for (const ProductRow& row : products()) {
    for (const std::string_view name : {row.key, row.family, row.soc}) {
      const ChoiceOrNothing found = find_product(name);
      ASSERT_TRUE(found.found) << name;
      EXPECT_EQ(found.choice.row->product, row.product);
    }
    EXPECT_EQ(row.usable_bytes % 2_MiB, 0U) << row.key;
  }
  for (const Chip& chip : chips()) EXPECT_EQ(find_product(chip.soc).choice.soc, chip.soc);
  EXPECT_FALSE(find_product("Ascend1").found);
  EXPECT_FALSE(find_product("").found);
  EXPECT_EQ(find_product("ascend910b4").choice.usable_bytes,
            row_of(Product::A2).usable_bytes / 2 / 2_MiB * 2_MiB);
}

}  // namespace plan_test
}  // namespace belay
