// The worked examples: what each size costs with each policy, in both families of allocators, on every
// product.

#include "support/allocators.h"
#include "support/on_product.h"

namespace footprint_table_test {

using namespace belay_test;

struct Cost {
  std::size_t kilobytes;
  std::uint32_t page;
};

constexpr Cost normal(std::size_t kilobytes) { return {kilobytes, kPage4K}; }
constexpr Cost huge(std::size_t megabytes) { return {megabytes * 1024, kPage2M}; }

struct Row {
  std::size_t size;
  std::size_t normal_only_kb;
  std::size_t huge_only_mb;
  Cost huge_first;
  Cost outside;  // a policy outside the enum
  std::size_t huge1g_gb;
};

constexpr std::size_t k1_9GB = 2040109466;

constexpr Row kPadded[] = {
    {1, 4, 2, normal(4), normal(4), 1},
    {31, 4, 2, normal(4), normal(4), 1},
    {32, 4, 2, normal(4), normal(4), 1},
    {33, 4, 2, normal(4), normal(4), 1},
    {64, 4, 2, normal(4), normal(4), 1},
    {kMB - 1, 1028, 2, normal(1028), normal(1028), 1},
    {kMB, 1028, 2, normal(1028), normal(1028), 1},
    {kMB + 1, 1028, 2, huge(2), normal(1028), 1},
    {2 * kMB - 32, 2048, 2, huge(2), normal(2048), 1},
    {2 * kMB, 2052, 4, huge(4), huge(4), 1},
    {2 * kMB + 1, 2052, 4, huge(4), huge(4), 1},
    {kGB - 1, 1048580, 1026, huge(1026), huge(1026), 1},
    {kGB, 1048580, 1026, huge(1026), huge(1026), 1},
    {kGB + 1, 1048580, 1026, huge(1026), huge(1026), 2},
    {k1_9GB, 1992296, 1946, huge(1946), huge(1946), 2},
};

constexpr Row kUnpadded[] = {
    {1, 4, 2, normal(4), normal(4), 1},
    {31, 4, 2, normal(4), normal(4), 1},
    {32, 4, 2, normal(4), normal(4), 1},
    {33, 4, 2, normal(4), normal(4), 1},
    {64, 4, 2, normal(4), normal(4), 1},
    {kMB - 1, 1024, 2, normal(1024), normal(1024), 1},
    {kMB, 1024, 2, normal(1024), normal(1024), 1},
    {kMB + 1, 1028, 2, huge(2), normal(1028), 1},
    {2 * kMB - 32, 2048, 2, huge(2), normal(2048), 1},
    {2 * kMB, 2048, 2, huge(2), huge(2), 1},
    {2 * kMB + 1, 2052, 4, huge(4), huge(4), 1},
    {kGB - 1, 1048576, 1024, huge(1024), huge(1024), 1},
    {kGB, 1048576, 1024, huge(1024), huge(1024), 1},
    {kGB + 1, 1048580, 1026, huge(1026), huge(1026), 2},
    {k1_9GB, 1992296, 1946, huge(1946), huge(1946), 2},
};

struct Product {
  const char* name;
  bool p2p, one_gigabyte, tells_pages;
};

// Where the product cannot tell the page size of a block, only the bytes are compared.
void expect_cost(const Allocator& allocator, std::size_t size, std::uint32_t value, const Product& product,
                 const Cost& cost) {
  const Taken expected = served(cost.kilobytes * kKB, product.tells_pages ? cost.page : 0);
  EXPECT_EQ(take(allocator, size, value), expected)
      << allocator.name << "(" << size << ", " << hex(value) << ")";
}

void expect_table(const Allocator& allocator, const Product& product, const std::vector<Row>& rows) {
  const bool cached = allocator.policies == Policies::cached;
  for (const Row& row : rows) {
    expect_cost(allocator, row.size, kNormalOnly, product, normal(row.normal_only_kb));
    expect_cost(allocator, row.size, kHugeOnly, product, huge(row.huge_only_mb));
    expect_cost(allocator, row.size, kHugeFirst, product, row.huge_first);
    if (product.tells_pages) {
      expect_cost(allocator, row.size, 99, product, row.outside);
    }
    if (product.one_gigabyte) {
      expect_cost(allocator, row.size, kHuge1g, product, {row.huge1g_gb * kMB, kPage1G});
    }
    if (product.p2p && !cached) {
      expect_cost(allocator, row.size, kHugeFirstP2p, product, huge(row.huge_only_mb));
      expect_cost(allocator, row.size, kHugeOnlyP2p, product, huge(row.huge_only_mb));
      expect_cost(allocator, row.size, kNormalOnlyP2p, product, normal(row.normal_only_kb));
      if (product.one_gigabyte) {
        expect_cost(allocator, row.size, kHuge1gP2p, product, {row.huge1g_gb * kMB, kPage1G});
      }
    }
  }
}

const std::vector<Row> padded(std::begin(kPadded), std::end(kPadded));
const std::vector<Row> unpadded(std::begin(kUnpadded), std::end(kUnpadded));

constexpr Product kProducts[] = {
    {"A2", true, true, true},     {"A3", true, true, true},   {"310P", true, false, true},
    {"310B", false, false, true}, {"910", true, false, true},
};

TEST(FootprintTable, M79_M34_M48_M50_M51_M55_M60_PaddedFamilyOnEveryPaddingProduct) {
  for (const Product& product : kProducts) {
    on_product(product.name, {{"BELAY_HBM", "8G"}}, [&] {
      expect_table(kMalloc, product, padded);
      expect_table(kCached, product, padded);
    });
  }
}

TEST(FootprintTable, M79_M36_M52_M53_M54_M56_UnpaddedFamilyOnEveryPaddingProduct) {
  for (const Product& product : kProducts) {
    on_product(product.name, {{"BELAY_HBM", "8G"}}, [&] {
      expect_table(kAlign32, product, unpadded);
      expect_table(kWithCfg, product, unpadded);
      expect_table(kTaskScheduler, product, unpadded);
    });
  }
}

TEST(FootprintTable, M79_M35_M92_EverythingOn950IsOfTheUnpaddedFamily) {
  on_product("950", {{"BELAY_HBM", "8G"}}, [] {
    for (const Allocator& allocator : all_allocators())
      expect_table(allocator, {"950", true, true, true}, unpadded);
  });
}

TEST(FootprintTable, M79_M67_BothFamiliesOnIpv) {
  on_product("IPV350", {{"BELAY_HBM", "8G"}}, [] {
    const Product product{"IPV350", false, false, false};
    expect_table(kMalloc, product, padded);
    expect_table(kAlign32, product, unpadded);
  });
}

TEST(FootprintTable, M79_TwoMegabytesCostFourUnlessThereIsNoPadding) {
  on_product("A2", [] {
    EXPECT_EQ(take(kMalloc, 2 * kMB, kHugeFirst), served(4 * kMB, kPage2M));
    EXPECT_EQ(take(kMalloc, 2 * kMB - 31, kHugeFirst), served(4 * kMB, kPage2M));
    EXPECT_EQ(take(kMalloc, 2 * kMB - 32, kHugeFirst), served(2 * kMB, kPage2M));
    EXPECT_EQ(take(kAlign32, 2 * kMB, kHugeFirst), served(2 * kMB, kPage2M));
  });
}

// Pages used are the footprint divided by the page size.
TEST(FootprintTable, M422_PagesOfOneGigabyte) {
  on_product("A2", [] {
    const auto pages = [](const Allocator& allocator, std::uint32_t value) {
      const Taken taken = take(allocator, kGB, value);
      return taken.bytes / taken.page;
    };
    for (const Allocator& allocator : {kAlign32, kWithCfg}) {
      EXPECT_EQ(pages(allocator, kHugeOnly), 512U);
      EXPECT_EQ(pages(allocator, kHugeOnlyP2p), 512U);
      EXPECT_EQ(pages(allocator, kHuge1g), 1U);
      EXPECT_EQ(pages(allocator, kHuge1gP2p), 1U);
    }
    EXPECT_EQ(pages(kMalloc, kHugeOnly), 513U);
    EXPECT_EQ(pages(kMalloc, kHugeOnlyP2p), 513U);
    EXPECT_EQ(pages(kMalloc, kHuge1g), 1U);
    EXPECT_EQ(pages(kMalloc, kHuge1gP2p), 1U);
  });
}

// Sizes whose arithmetic is over: the last two rows of the tables.
TEST(FootprintTable, M37_M38_M39_TheTwoLargestSizes) {
  on_product("A2", [] {
    for (const std::uint32_t value : {kNormalOnly, kHugeOnly, kHugeFirst, 99U, kHuge1g}) {
      const bool gigabyte = value == kHuge1g;
      for (const Allocator& allocator : {kMalloc, kCached}) {
        EXPECT_EQ(take(allocator, SIZE_MAX - 63, value),
                  refused(gigabyte ? ACL_ERROR_RT_MEMORY_ALLOCATION : ACL_ERROR_INVALID_PARAM));
        EXPECT_EQ(take(allocator, SIZE_MAX, value), refused(ACL_ERROR_INVALID_PARAM));
      }
      EXPECT_EQ(take(kAlign32, SIZE_MAX - 63, value), refused(ACL_ERROR_RT_MEMORY_ALLOCATION));
      EXPECT_EQ(take(kAlign32, SIZE_MAX, value), refused(ACL_ERROR_INVALID_PARAM));
      EXPECT_EQ(take(kWithCfg, SIZE_MAX - 63, value), refused(ACL_ERROR_RT_MEMORY_ALLOCATION));
      EXPECT_EQ(take(kWithCfg, SIZE_MAX, value), refused(ACL_ERROR_RT_PARAM_INVALID));
    }
  });
}

}  // namespace footprint_table_test
