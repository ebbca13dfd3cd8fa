// How a policy argument is read: one item, several OR-ed, or nonsense.
#include "support/allocators.h"

namespace policy_decoding_test {

using namespace belay_test;

class PolicyDecoding : public OnDevice {};

constexpr std::uint32_t kOutside = 99;

// Sizes at which the base policies differ from one another.
constexpr std::size_t kTelling[] = {1, kMB, kMB + 1, 2 * kMB - 1, 2 * kMB, 2 * kMB + 1};

bool read_only(const Allocator& allocator, std::uint32_t value) {
  const Block block(allocator, 64, value);
  const aclError code = aclrtMemset(block.get(), 64, 1, 64);
  EXPECT_TRUE(code == ACL_SUCCESS || code == ACL_ERROR_RT_DRV_INTERNAL_ERROR) << code;
  return code != ACL_SUCCESS;
}

void expect_same(const Allocator& allocator, std::uint32_t value, std::uint32_t as) {
  for (const std::size_t size : kTelling) {
    EXPECT_EQ(take(allocator, size, value), take(allocator, size, as))
        << allocator.name << "(" << size << ", " << hex(value) << ") is not as " << hex(as);
  }
}

struct Decoded {
  std::uint32_t value, base;
  bool read_only;
};

constexpr Decoded kTable[] = {
    {0x100, kHugeFirst, false},     {0x1000, kHugeFirst, false},   {0x1100, kHugeFirst, false},
    {0x101, kHugeOnly, false},      {0x1001, kHugeOnly, false},    {0x102, kNormalOnly, false},
    {0x1002, kNormalOnly, false},   {0x103, kHugeFirstP2p, false}, {0x104, kHugeOnlyP2p, false},
    {0x105, kNormalOnlyP2p, false}, {0x106, kHuge1g, false},       {0x107, kHuge1gP2p, false},
    {0x1003, kHugeFirstP2p, false}, {0x1004, kHugeOnlyP2p, false}, {0x1005, kNormalOnlyP2p, false},
    {0x1006, kHuge1g, false},       {0x1007, kHuge1gP2p, false},   {0x1101, kHugeOnly, false},
    {0x1102, kNormalOnly, false},   {0x1106, kHuge1g, false},      {0x100000, kHugeFirst, true},
    {0x100001, kHugeOnly, true},    {0x100002, kNormalOnly, true}, {0x100003, kHugeFirstP2p, true},
    {0x100100, kHugeFirst, true},   {0x101002, kNormalOnly, true}, {0x101101, kHugeOnly, true},
    {8, kOutside, false},           {99, kOutside, false},         {0x108, kOutside, false},
    {0x200, kOutside, false},       {0x201, kOutside, false},      {0x10000, kOutside, false},
    {0x100008, kOutside, false},    {0x101108, kOutside, false},   {0x200000, kOutside, false},
    {0x300001, kOutside, false},    {0x80000000, kOutside, false}, {0xFFFFFFFF, kOutside, false},
    {1 | 2, kHugeFirstP2p, false},  // base policies are numbers, not bits
};

TEST_F(PolicyDecoding, M424_M64_TheWholeTable) {
  for (const Allocator& allocator : decoding_allocators()) {
    for (const Decoded& decoded : kTable) {
      expect_same(allocator, decoded.value, decoded.base);
      EXPECT_EQ(read_only(allocator, decoded.value), decoded.read_only)
          << allocator.name << hex(decoded.value);
    }
  }
}

TEST_F(PolicyDecoding, M424_AllCombinationsOfFlagsAndRemainders) {
  for (const Allocator& allocator : decoding_allocators()) {
    for (std::uint32_t base = 0; base < 12; ++base) {
      for (const std::uint32_t flags : {0U, kLow, kHigh, kLow | kHigh, kReadOnly, kReadOnly | kLow,
                                        kReadOnly | kHigh, kReadOnly | kLow | kHigh}) {
        for (const std::size_t size : kTelling) {
          EXPECT_EQ(take(allocator, size, base | flags), documented(allocator, size, base | flags))
              << allocator.name << " " << size << " " << hex(base | flags);
        }
      }
    }
  }
}

TEST_F(PolicyDecoding, M61_AnOrWithABandwidthItemActsAsItsBasePolicy) {
  for (const Allocator& allocator : {kMalloc, kAlign32}) {
    for (const std::uint32_t flag : {kLow, kHigh}) {
      for (const std::uint32_t base : {kHugeFirst, kHugeOnly, kNormalOnly}) {
        expect_same(allocator, base | flag, base);
      }
    }
    EXPECT_EQ(take(allocator, 1, kHugeOnly | kHigh), served(2 * kMB, kPage2M));
    const std::size_t bytes = up_to(8 * kMB + (allocator.pads ? 32 : 0), 4096);
    EXPECT_EQ(take(allocator, 8 * kMB, kNormalOnly | kLow), served(bytes, kPage4K));
  }
}

TEST_F(PolicyDecoding, M62_CachedKnowsFourPoliciesAndTakesTheRestAsOutsideTheEnum) {
  for (const std::uint32_t value :
       {3U, 4U, 5U, 7U, 8U, kLow, kHigh, kHugeOnly | kHigh, kNormalOnly | kLow, kReadOnly,
        kReadOnly | kHugeOnly, kHuge1g | kLow, kHuge1g | kReadOnly, 0xFFFFFFFFU}) {
    expect_same(kCached, value, kOutside);
    EXPECT_FALSE(read_only(kCached, value)) << hex(value);
    EXPECT_EQ(take(kCached, 2 * kMB, value), served(4 * kMB, kPage2M)) << hex(value);  // padded, 7 too
    EXPECT_EQ(take(kCached, 2 * kMB - 1, value), served(2 * kMB + 4096, kPage4K)) << hex(value);
  }
  EXPECT_EQ(take(kCached, 1, kHugeOnly), served(2 * kMB, kPage2M));
  EXPECT_EQ(take(kCached, kMB + 1, kHugeFirst), served(2 * kMB, kPage2M));
  EXPECT_EQ(take(kCached, 2 * kMB, kNormalOnly), served(2 * kMB + 4096, kPage4K));
  EXPECT_EQ(take(kCached, 1, kHuge1g), served(kGB, kPage1G));
}

TEST_F(PolicyDecoding, M63_M425_WithCfgTakesOneItemOfEachGroup) {
  for (const Allocator& allocator : {kWithCfg, kTaskScheduler}) {
    for (const std::uint32_t width : {0U, kLow, kHigh}) {
      for (const std::uint32_t access : {0U, kReadOnly}) {
        for (std::uint32_t base = 0; base <= kNormalOnlyP2p; ++base) {
          const std::uint32_t value = width | access | base;
          expect_same(allocator, value, base);
          EXPECT_EQ(read_only(allocator, value), access != 0) << allocator.name << hex(value);
        }
      }
      expect_same(allocator, width | kHuge1g, kHuge1g);
      expect_same(allocator, width | kHuge1gP2p, kHuge1gP2p);
    }
  }
}

TEST_F(PolicyDecoding, M65_LowAndHighTogetherCancelOut) {
  for (const Allocator& allocator : decoding_allocators()) {
    for (std::uint32_t base = 0; base <= kHuge1gP2p; ++base)
      expect_same(allocator, base | kLow | kHigh, base);
  }
}

TEST_F(PolicyDecoding, M66_ReadOnlyWithABasePolicyIsObeyedInBothParts) {
  for (const Allocator& allocator : {kMalloc, kAlign32}) {
    for (std::uint32_t base = 0; base <= kNormalOnlyP2p; ++base) {
      expect_same(allocator, base | kReadOnly, base);
      EXPECT_TRUE(read_only(allocator, base | kReadOnly)) << hex(base);
      EXPECT_FALSE(read_only(allocator, base)) << hex(base);
    }
  }
}

TEST_F(PolicyDecoding, M425_BandwidthItemsAreNeverAnErrorAndKeepThePagePolicy) {
  for (const Allocator& allocator : all_allocators()) {
    for (const std::uint32_t value :
         {kLow, kHigh, kLow | kHigh, kHugeOnly | kLow, kNormalOnly | kHigh, kHuge1g | kLow}) {
      EXPECT_EQ(take(allocator, 1, value).code, ACL_SUCCESS) << allocator.name << hex(value);
    }
  }
  EXPECT_EQ(take(kMalloc, 5 * kMB, kNormalOnly | kHigh).page, kPage4K);
  EXPECT_EQ(take(kMalloc, 1, kHugeOnly | kLow).page, kPage2M);
}

}  // namespace policy_decoding_test
